//! Datetimes: the text forms that eKuiper reads and the ones it prints.

mod duration;
mod pattern;
mod read;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};

use crate::{Error, Result, Value};

pub use duration::{go_duration, go_duration_ns, parse_duration, parse_duration_ms};
pub use pattern::{Pattern, format_time, parse_with_format};
pub use read::read_time;

/// A value as a point in time: numbers are Unix milliseconds (a fraction is cut), text is read by
/// [`read_time`]. `zone` holds for numbers and for text that names no zone.
pub fn to_time(value: &Value, zone: &TimeZone) -> Result<ZonedDateTime> {
    match value {
        Value::Int(ms) | Value::Wide(ms) => from_millis(*ms, zone),
        Value::Float(ms) if ms.is_finite() => from_millis(*ms as i64, zone),
        Value::Str(text) => read_time(text, zone),
        Value::Time(t) => Ok((**t).clone()),
        other => Err(Error::new(format!(
            "unsupported type {} for a time: milliseconds, a datetime or text is wanted",
            other.kind_name()
        ))),
    }
}

/// Unix milliseconds in a zone.
pub fn from_millis(ms: i64, zone: &TimeZone) -> Result<ZonedDateTime> {
    match Timestamp::from_millisecond(ms) {
        Ok(t) => Ok(t.to_zoned_datetime(zone.clone())),
        Err(_) => Err(Error::new(format!(
            "{ms} milliseconds is outside the years -9999 to 9999"
        ))),
    }
}

/// Unix milliseconds of a time, rounded down.
pub fn millis(t: &ZonedDateTime) -> i64 {
    let nanos = t.timestamp().as_nanosecond().div_euclid(1_000_000);
    i64::try_from(nanos).unwrap_or(i64::MAX)
}

/// A zone by its IANA name; the empty name and `UTC` are UTC.
pub fn zone_by_name(name: &str) -> Result<TimeZone> {
    if name.is_empty() || name == "UTC" {
        return Ok(TimeZone::UTC);
    }
    TimeZone::get(name).map_err(|_| Error::new(format!("unknown time zone {name}")))
}

/// RFC 3339 with the value's own offset and only the fraction digits it needs: the JSON form.
pub fn rfc3339(t: &ZonedDateTime) -> String {
    let mut text = t.strftime("%Y-%m-%dT%H:%M:%S").to_string();
    push_fraction(&mut text, t);
    let offset = t.offset().seconds();
    if offset == 0 {
        text.push('Z');
    } else {
        push_offset(&mut text, offset, true);
    }
    text
}

/// As Go's `%v` prints a time: `2020-04-01 02:00:00.123 +0000 UTC`.
pub fn go_text(t: &ZonedDateTime) -> String {
    let mut text = t.strftime("%Y-%m-%d %H:%M:%S").to_string();
    push_fraction(&mut text, t);
    text.push(' ');
    push_offset(&mut text, t.offset().seconds(), false);
    text.push(' ');
    push_zone_name(&mut text, t);
    text
}

/// `2020-04-01 02:00:00`, the form most datetime functions give.
pub fn date_time_text(t: &ZonedDateTime) -> String {
    t.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

fn push_fraction(text: &mut String, t: &ZonedDateTime) {
    let nanos = t.subsec_nanosecond();
    if nanos != 0 {
        let digits = format!("{nanos:09}");
        text.push('.');
        text.push_str(digits.trim_end_matches('0'));
    }
}

/// `+0200`, or `+02:00`.
fn push_offset(text: &mut String, seconds: i32, colon: bool) {
    text.push(if seconds < 0 { '-' } else { '+' });
    let minutes = seconds.unsigned_abs() / 60;
    let colon = if colon { ":" } else { "" };
    text.push_str(&format!("{:02}{colon}{:02}", minutes / 60, minutes % 60));
}

/// The zone's abbreviation (`CEST`); a bare offset is its own name (`+0800`).
fn push_zone_name(text: &mut String, t: &ZonedDateTime) {
    let zone = t.time_zone();
    if zone.iana_name().is_none() && zone.to_fixed_offset().is_ok() {
        let offset = t.offset().seconds();
        if offset == 0 {
            text.push_str("UTC");
        } else {
            push_offset(text, offset, false);
        }
        return;
    }
    text.push_str(zone.to_offset_info(t.timestamp()).abbreviation());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_time() {
        let t = read_time("2020-04-01T10:30:45.120+08:00", &TimeZone::UTC).unwrap();
        assert_eq!(rfc3339(&t), "2020-04-01T10:30:45.12+08:00");
        assert_eq!(go_text(&t), "2020-04-01 10:30:45.12 +0800 +0800");
        assert_eq!(date_time_text(&t), "2020-04-01 10:30:45");
        let utc = to_time(&Value::Float(1585706400123.9), &TimeZone::UTC).unwrap();
        assert_eq!(go_text(&utc), "2020-04-01 02:00:00.123 +0000 UTC");
        let paris = utc.with_time_zone(zone_by_name("Europe/Paris").unwrap());
        assert_eq!(go_text(&paris), "2020-04-01 04:00:00.123 +0200 CEST");
        assert_eq!(millis(&paris), 1585706400123);
    }

    #[test]
    fn what_is_no_time() {
        for v in [
            Value::Null,
            Value::Bool(true),
            Value::Float(f64::NAN),
            Value::Int(i64::MAX),
        ] {
            assert!(to_time(&v, &TimeZone::UTC).is_err(), "{v:?}");
        }
        assert!(zone_by_name("No/Where").is_err());
    }
}
