//! Where the first window of a rule ends.

use jiff::tz::TimeZone;
use jiff::{ToSpan, Unit, ZonedDateTimeRound};
use rekuiper_plan::physical::TimeUnit;
use rekuiper_value::time;

/// Milliseconds of a unit.
pub fn millis_of(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Day => 86_400_000,
        TimeUnit::Hour => 3_600_000,
        TimeUnit::Minute => 60_000,
        TimeUnit::Second => 1000,
        TimeUnit::Millisecond => 1,
    }
}

/// The end of the first window of `length` milliseconds, written in `unit`, for a first moment
/// `at`.
///
/// The moment is cut to the next larger unit (a day for hours, a minute for seconds) in the rule's
/// time zone; from there the end lies a whole number of lengths away. Days end at midnight. With
/// `at_or_after` a moment in the very slot of an end gives that end, as eKuiper does in event time;
/// else the end lies after the moment.
pub fn first_end(at: i64, unit: TimeUnit, length: i64, zone: &TimeZone, at_or_after: bool) -> i64 {
    let unit_ms = millis_of(unit);
    let count = (length / unit_ms).max(1);
    let plain = at.div_euclid(length.max(1)).saturating_add(1).saturating_mul(length.max(1));
    let Ok(zoned) = time::from_millis(at, zone) else { return plain };
    let cut = |smallest: Unit| {
        let round = ZonedDateTimeRound::new().smallest(smallest).mode(jiff::RoundMode::Floor);
        zoned.round(round).ok()
    };
    let larger = match unit {
        TimeUnit::Day => {
            let midnight = cut(Unit::Day).and_then(|day| day.checked_add(count.days()).ok());
            return midnight.map_or(plain, |end| time::millis(&end));
        }
        TimeUnit::Hour => cut(Unit::Day),
        TimeUnit::Minute => cut(Unit::Hour),
        TimeUnit::Second => cut(Unit::Minute),
        TimeUnit::Millisecond => cut(Unit::Second),
    };
    let Some(base) = larger.map(|t| time::millis(&t)) else { return plain };
    let slot = (at - base).div_euclid(unit_ms);
    let steps = match at_or_after && slot <= count {
        true => 1,
        false => slot / count + 1,
    };
    base.saturating_add(steps.saturating_mul(count).saturating_mul(unit_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_lie_on_the_larger_unit() {
        let utc = TimeZone::UTC;
        let end = |at, unit, length| first_end(at, unit, length, &utc, true);
        assert_eq!(end(120, TimeUnit::Second, 1000), 1000);
        assert_eq!(end(5000, TimeUnit::Second, 5000), 5000);
        assert_eq!(end(6000, TimeUnit::Second, 5000), 10_000);
        assert_eq!(end(61_000, TimeUnit::Second, 7000), 67_000);
        assert_eq!(end(61_000, TimeUnit::Second, 90_000), 150_000);
        assert_eq!(end(3_000_000, TimeUnit::Day, 86_400_000), 86_400_000);
        assert_eq!(first_end(5000, TimeUnit::Second, 5000, &utc, false), 10_000);
    }
}
