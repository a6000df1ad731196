//! When a rule is to run: always, for a time, in hours that a cron text gives, in ranges of dates.
//! Pure: the time comes in.

use std::str::FromStr;

use chrono::{DateTime as ChronoTime, Duration as ChronoDuration, NaiveDateTime};
use croner::Cron;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::definition::{Range, RuleOptions};
use crate::config::duration;

#[derive(Debug, Clone)]
enum Hours {
    Always,
    /// Once, for so many ms.
    Once(i64),
    Cron(Box<Cron>, i64),
    /// `@every`: each so many ms since 1970.
    Every(i64, i64),
}

#[derive(Debug, Clone)]
pub struct Schedule {
    hours: Hours,
    ranges: Vec<Range>,
    /// What was given and cannot be understood; the rule runs as if it were not there.
    pub warning: Option<String>,
}

/// A moment of `YYYY-MM-DD hh:mm:ss`.
fn moment(text: &str) -> Option<DateTime> {
    DateTime::strptime("%Y-%m-%d %H:%M:%S", text).ok()
}

/// Refuses a range that can hold no moment.
pub fn check_range(r: &Range) -> Result<(), String> {
    if r.begin_ms != 0 || r.end_ms != 0 {
        if r.begin_ms > r.end_ms {
            return Err(format!(
                "cronDatetimeRange: beginTimestamp {} is after endTimestamp {}",
                r.begin_ms, r.end_ms
            ));
        }
        return Ok(());
    }
    let read = |what: &str, text: &str| {
        let wrong =
            || format!("cronDatetimeRange: {what} {text:?} is not of the form YYYY-MM-DD hh:mm:ss");
        moment(text).ok_or_else(wrong)
    };
    let (begin, end) = (read("begin", &r.begin)?, read("end", &r.end)?);
    if begin > end {
        return Err(format!(
            "cronDatetimeRange: begin {begin} is after end {end}"
        ));
    }
    Ok(())
}

impl Schedule {
    pub fn of(options: &RuleOptions) -> Schedule {
        let length = match options.duration.as_str() {
            "" => Ok(None),
            text => match duration::parse(text).filter(|d| *d > 0) {
                Some(d) => Ok(Some(d)),
                None => Err(format!("duration {text:?} is no duration and is ignored")),
            },
        };
        let (length, mut warning) = match length {
            Ok(length) => (length, None),
            Err(why) => (None, Some(why)),
        };
        let hours = match (options.cron.trim(), length) {
            ("", None) => Hours::Always,
            ("", Some(d)) => Hours::Once(d),
            (_, None) => Hours::Always,
            (text, Some(d)) => hours(text, d).unwrap_or_else(|why| {
                warning = Some(why);
                Hours::Always
            }),
        };
        Schedule {
            hours,
            ranges: options.cron_datetime_range.clone(),
            warning,
        }
    }

    /// Whether it turns the rule on again by itself.
    pub fn returns(&self) -> bool {
        !self.ranges.is_empty() || matches!(self.hours, Hours::Cron(..) | Hours::Every(..))
    }

    /// How long a run may last, where that is all that was given.
    pub fn once(&self) -> Option<i64> {
        match self.hours {
            Hours::Once(d) => Some(d),
            _ => None,
        }
    }

    /// Whether the rule is to run at `now` (ms).
    pub fn holds(&self, now: i64, tz: &TimeZone) -> bool {
        self.in_ranges(now, tz)
            && match &self.hours {
                Hours::Always | Hours::Once(_) => true,
                Hours::Every(every, length) => now.rem_euclid(*every) < *length,
                Hours::Cron(cron, length) => {
                    previous(cron, now, tz).is_some_and(|start| now < start.saturating_add(*length))
                }
            }
    }

    /// The next moment after `now` at which it begins to hold.
    pub fn next_start(&self, now: i64, tz: &TimeZone) -> Option<i64> {
        match &self.hours {
            Hours::Always | Hours::Once(_) => self
                .ranges
                .iter()
                .map(|r| bounds(r, tz).0)
                .filter(|b| *b > now)
                .min(),
            Hours::Every(every, _) => Some(now - now.rem_euclid(*every) + every),
            Hours::Cron(cron, _) => next(cron, now, tz),
        }
    }

    /// The next moment after `now` at which a run may have to end.
    pub fn next_end(&self, now: i64, tz: &TimeZone) -> Option<i64> {
        let range = self
            .ranges
            .iter()
            .map(|r| bounds(r, tz).1)
            .filter(|e| *e > now)
            .min();
        let hours = match &self.hours {
            Hours::Cron(cron, length) => previous(cron, now, tz).map(|s| s.saturating_add(*length)),
            Hours::Every(every, length) => Some(now - now.rem_euclid(*every) + length),
            Hours::Always | Hours::Once(_) => None,
        };
        range.into_iter().chain(hours).min()
    }

    fn in_ranges(&self, now: i64, tz: &TimeZone) -> bool {
        self.ranges.is_empty()
            || self.ranges.iter().any(|r| {
                let (begin, end) = bounds(r, tz);
                begin <= now && now < end
            })
    }
}

fn hours(text: &str, length: i64) -> Result<Hours, String> {
    if let Some(every) = text.strip_prefix("@every ") {
        return match duration::parse(every.trim()).filter(|e| *e > 0) {
            Some(every) => Ok(Hours::Every(every, length)),
            None => Err(format!(
                "cron {text:?}: {every:?} is no duration; the rule runs always"
            )),
        };
    }
    match Cron::from_str(text) {
        Ok(cron) => Ok(Hours::Cron(Box::new(cron), length)),
        Err(e) => Err(format!(
            "cron {text:?} is not understood ({e}); the rule runs always"
        )),
    }
}

fn bounds(r: &Range, tz: &TimeZone) -> (i64, i64) {
    if r.begin_ms != 0 || r.end_ms != 0 {
        return (r.begin_ms, r.end_ms);
    }
    let ms = |text: &str| {
        let at = moment(text).and_then(|m| tz.to_timestamp(m).ok());
        at.map_or(0, |t| t.as_millisecond())
    };
    (ms(&r.begin), ms(&r.end))
}

/// What clocks on the wall show at `now`.
fn wall(now: i64, tz: &TimeZone) -> Option<NaiveDateTime> {
    let offset = tz
        .to_offset(Timestamp::from_millisecond(now).ok()?)
        .seconds();
    Some(ChronoTime::from_timestamp_millis(now + i64::from(offset) * 1000)?.naive_utc())
}

/// The moment at which clocks on the wall show `at`.
fn instant(at: NaiveDateTime, tz: &TimeZone) -> Option<i64> {
    let wall = Timestamp::from_millisecond(at.and_utc().timestamp_millis()).ok()?;
    let moment = TimeZone::UTC.to_datetime(wall);
    Some(tz.to_timestamp(moment).ok()?.as_millisecond())
}

fn previous(cron: &Cron, now: i64, tz: &TimeZone) -> Option<i64> {
    instant(
        cron.find_previous_occurrence(&wall(now, tz)?, true).ok()?,
        tz,
    )
}

fn next(cron: &Cron, now: i64, tz: &TimeZone) -> Option<i64> {
    let after = wall(now, tz)?.checked_add_signed(ChronoDuration::milliseconds(1))?;
    instant(cron.find_next_occurrence(&after, false).ok()?, tz)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(text: &str) -> i64 {
        format!("{text}Z")
            .parse::<Timestamp>()
            .unwrap()
            .as_millisecond()
    }

    fn of(cron: &str, duration: &str) -> Schedule {
        let (cron, duration) = (cron.to_owned(), duration.to_owned());
        Schedule::of(&RuleOptions {
            cron,
            duration,
            ..Default::default()
        })
    }

    #[test]
    fn cron_and_duration_hold_from_each_firing_for_that_long() {
        let s = of("0 8 * * *", "1h");
        let utc = &TimeZone::UTC;
        assert!(!s.holds(ms("2026-03-01T07:59:59"), utc));
        assert!(s.holds(ms("2026-03-01T08:00:00"), utc));
        assert!(s.holds(ms("2026-03-01T08:59:59"), utc));
        assert!(!s.holds(ms("2026-03-01T09:00:00"), utc));
        assert_eq!(
            s.next_start(ms("2026-03-01T09:00:00"), utc),
            Some(ms("2026-03-02T08:00:00"))
        );
        assert_eq!(
            s.next_end(ms("2026-03-01T08:10:00"), utc),
            Some(ms("2026-03-01T09:00:00"))
        );
        assert!(s.returns());
    }

    #[test]
    fn the_zone_counts() {
        let s = of("0 8 * * *", "1h");
        let tz = TimeZone::fixed(jiff::tz::offset(2));
        assert!(s.holds(ms("2026-03-01T06:30:00"), &tz));
        assert!(!s.holds(ms("2026-03-01T08:30:00"), &tz));
    }

    #[test]
    fn words_and_every() {
        assert!(of("@hourly", "1m").holds(ms("2026-03-01T07:00:30"), &TimeZone::UTC));
        let s = of("@every 10s", "3s");
        assert!(s.holds(ms("2026-03-01T07:00:12"), &TimeZone::UTC));
        assert!(!s.holds(ms("2026-03-01T07:00:13"), &TimeZone::UTC));
        assert_eq!(
            s.next_start(ms("2026-03-01T07:00:13"), &TimeZone::UTC),
            Some(ms("2026-03-01T07:00:20"))
        );
    }

    #[test]
    fn what_is_not_understood_is_as_if_not_given() {
        let s = of("every now and then", "1m");
        assert!(s.warning.is_some() && s.holds(0, &TimeZone::UTC) && !s.returns());
        let s = of("", "soon");
        assert!(s.warning.is_some() && s.once().is_none());
    }

    #[test]
    fn cron_alone_changes_nothing_and_duration_alone_is_a_length() {
        assert!(of("0 8 * * *", "").holds(ms("2026-03-01T12:00:00"), &TimeZone::UTC));
        assert_eq!(of("", "2s").once(), Some(2000));
    }

    #[test]
    fn ranges() {
        let range = Range {
            begin: "2026-03-01 08:00:00".into(),
            end: "2026-03-01 09:00:00".into(),
            ..Default::default()
        };
        let s = Schedule::of(&RuleOptions {
            cron_datetime_range: vec![range],
            ..Default::default()
        });
        assert!(!s.holds(ms("2026-03-01T07:00:00"), &TimeZone::UTC));
        assert!(s.holds(ms("2026-03-01T08:30:00"), &TimeZone::UTC));
        let next = s.next_start(ms("2026-03-01T07:00:00"), &TimeZone::UTC);
        assert_eq!(next, Some(ms("2026-03-01T08:00:00")));
        assert_eq!(
            s.next_start(ms("2026-03-01T09:00:00"), &TimeZone::UTC),
            None
        );
    }
}
