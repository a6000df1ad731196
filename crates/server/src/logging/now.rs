//! The time on the wall.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// In the form of `strftime`.
pub fn now(form: &str) -> String {
    TimeZone::system()
        .to_datetime(Timestamp::now())
        .strftime(form)
        .to_string()
}
