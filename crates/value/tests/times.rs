//! Times and durations: what is printed can be read again, and no text makes a reader panic.

use jiff::tz::{Offset, TimeZone};
use proptest::prelude::*;
use rekuiper_value::cast::{CastType, cast};
use rekuiper_value::{Value, time};

/// Years 1 to 9999, which four digits can show.
const FIRST_MS: i64 = -62_135_596_800_000 + 86_400_000;
const LAST_MS: i64 = 253_402_300_799_999 - 86_400_000;

proptest! {
    #[test]
    fn rfc3339_reads_back(ms in FIRST_MS..LAST_MS, minutes in -720i32..=720) {
        let zone = TimeZone::fixed(Offset::from_seconds(minutes * 60).unwrap());
        let t = time::from_millis(ms, &zone).unwrap();
        let back = time::read_time(&time::rfc3339(&t), &TimeZone::UTC).unwrap();
        prop_assert_eq!(time::millis(&back), ms);
        prop_assert_eq!(back.offset(), t.offset());
        let back = time::read_time(&time::go_text(&t), &TimeZone::UTC).unwrap();
        prop_assert_eq!(time::millis(&back), ms);
    }

    #[test]
    fn a_pattern_reads_what_it_prints(ms in FIRST_MS..LAST_MS) {
        let t = time::from_millis(ms, &TimeZone::UTC).unwrap();
        for pattern in ["yyyy-MM-dd HH:mm:ssSSS", "EEE, d MMM yyyy h:mm:ss.SSS a XXX",
            "yyyyMMdd\\THHmmssSSS Z", "EEEE dd MMMM yyyy 'o''clock' HH m sSSS"] {
            let text = time::format_time(&t, pattern).unwrap();
            let back = time::parse_with_format(&text, pattern, &TimeZone::UTC);
            prop_assert_eq!(back.map(|t| time::millis(&t)), Ok(ms), "{}", text);
        }
    }

    #[test]
    fn durations_read_back(ns in any::<i64>()) {
        prop_assert_eq!(time::parse_duration(&time::go_duration_ns(ns)), Ok(ns));
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,40}", pattern in "[yMdEHhamsSzZX'\\\\:. -]{0,20}") {
        let _ = time::read_time(&text, &TimeZone::UTC);
        let _ = time::parse_duration(&text);
        let _ = time::parse_with_format(&text, &pattern, &TimeZone::UTC);
        for to in ["bigint", "float", "string", "boolean", "datetime", "bytea"] {
            let to = CastType::by_name(to).unwrap();
            let _ = cast(&Value::from(text.as_str()), to, &TimeZone::UTC);
        }
    }

    #[test]
    fn no_near_time_panics(text in "[0-9TZ:/. +-]{0,30}") {
        if let Ok(t) = time::read_time(&text, &TimeZone::UTC) {
            let _ = time::rfc3339(&t);
        }
        let _ = time::parse_duration(&text);
    }
}
