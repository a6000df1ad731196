//! Dates. Layouts are Go's: `2006-01-02 15:04:05`.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, ZonedDateTime};
use rekuiper_value::{Result, Value, time};

use super::{Args, Function, f, text_value};
use crate::gotime;

pub const FUNCTIONS: &[Function] = &[
    f("now", 0, 0, |a| Ok(Value::Time(now(a)?.into()))),
    f("date", 2, 2, |a| {
        let t = moment(a, 1)?;
        text_value(gotime::format(&t, a.str(0)?))
    }),
    f("dateInZone", 3, 3, in_zone),
    f("date_in_zone", 3, 3, in_zone),
    f("htmlDate", 1, 1, |a| text_value(gotime::format(&moment(a, 0)?, "2006-01-02"))),
    f("dateModify", 2, 2, modify),
    f("date_modify", 2, 2, modify),
    f("unixEpoch", 1, 1, |a| {
        let seconds = moment(a, 0)?.timestamp().as_second();
        text_value(seconds.to_string())
    }),
    f("toDate", 2, 2, to_date),
    f("mustToDate", 2, 2, to_date),
    f("duration", 1, 1, |a| {
        text_value(time::go_duration_ns(a.whole(0).saturating_mul(1_000_000_000)))
    }),
    f("ago", 1, 1, |a| {
        let passed = now(a)?.timestamp().as_second() - moment(a, 0)?.timestamp().as_second();
        text_value(time::go_duration_ns(passed.saturating_mul(1_000_000_000)))
    }),
];

fn zone(a: &Args<'_, '_>) -> TimeZone {
    a.env.zone.clone().unwrap_or(TimeZone::UTC)
}

fn now(a: &Args<'_, '_>) -> Result<ZonedDateTime> {
    match a.env.now_ms {
        Some(ms) => time::from_millis(ms, &zone(a)),
        None => Err(a.error("there is no clock here")),
    }
}

/// A time, or Unix seconds as a whole number; anything else is now, as in sprig.
fn moment(a: &Args<'_, '_>, at: usize) -> Result<ZonedDateTime> {
    match a.any(at) {
        Value::Time(t) => Ok(t.with_time_zone(zone(a))),
        Value::Int(seconds) => time::from_millis(seconds.saturating_mul(1000), &zone(a)),
        _ => now(a),
    }
}

fn in_zone(a: &mut Args<'_, '_>) -> Result<Value> {
    let named = time::zone_by_name(a.str(2)?).unwrap_or(TimeZone::UTC);
    let t = moment(a, 1)?.with_time_zone(named);
    text_value(gotime::format(&t, a.str(0)?))
}

fn modify(a: &mut Args<'_, '_>) -> Result<Value> {
    let t = moment(a, 1)?;
    let text = a.str(0)?;
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    // what is no duration leaves the time as it is
    let Ok(ms) = time::parse_duration_ms(text) else { return Ok(Value::Time(t.into())) };
    let moved = t.checked_add(SignedDuration::from_millis(ms.saturating_mul(sign)));
    moved.map(|t| Value::Time(t.into())).map_err(|_| a.error("outside the years -9999 to 9999"))
}

fn to_date(a: &mut Args<'_, '_>) -> Result<Value> {
    let (layout, text) = (a.str(0)?, a.str(1)?);
    match gotime::parse(layout, text, &zone(a)) {
        Some(t) => Ok(Value::Time(t.into())),
        None => Err(a.error(format!("{text:?} has not the form {layout:?}"))),
    }
}
