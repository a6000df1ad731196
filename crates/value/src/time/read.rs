//! Reading a point in time from text in the forms eKuiper knows without being told.

use jiff::ZonedDateTime;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

use super::pattern::Pattern;
use crate::{Error, Result};

/// Forms with names of months, as patterns: HTTP dates, mail headers and `date` output.
const NAMED: [&str; 9] = [
    "EEE, dd MMM yyyy HH:mm:ss z",
    "EEE, dd MMM yyyy HH:mm:ss Z",
    "EEEE, dd-MMM-yy HH:mm:ss z",
    "EEE MMM d HH:mm:ss yyyy",
    "EEE MMM d HH:mm:ss z yyyy",
    "EEE MMM d HH:mm:ss Z yyyy",
    "dd MMM yy HH:mm z",
    "dd MMM yy HH:mm Z",
    "HH:mm:ss MMM d, yyyy z",
];

/// Reads `2021`, `2021-3`, `2021-3-4`, `2021-03-04 05:06:07.5`, the same with `T`, with `Z` or an
/// offset after the time, `2021/03/04`, `2021.3.4`, `3/4/2021`, `20210304` and HTTP dates. Text
/// that names no zone is in `zone`.
pub fn read_time(text: &str, zone: &TimeZone) -> Result<ZonedDateTime> {
    if let Some(t) = numeric(text, zone) {
        return Ok(t);
    }
    if text.bytes().any(|b| b.is_ascii_alphabetic()) && text.len() <= 64 {
        for form in NAMED {
            if let Ok(t) = Pattern::new(form).and_then(|p| p.parse(text, zone)) {
                return Ok(t);
            }
        }
    }
    Err(Error::new(format!(
        "cannot read {text:?} as a time: a form like 2021-03-04 05:06:07 or \
         2021-03-04T05:06:07Z is wanted"
    )))
}

/// What is left of a text while it is read.
pub(super) struct Reader<'a> {
    pub rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(text: &'a str) -> Self {
        Reader {
            rest: text.as_bytes(),
        }
    }

    pub fn eat(&mut self, byte: u8) -> bool {
        let hit = self.rest.first() == Some(&byte);
        if hit {
            self.rest = &self.rest[1..];
        }
        hit
    }

    pub fn peek_digits(&self) -> usize {
        self.rest.iter().take_while(|b| b.is_ascii_digit()).count()
    }

    /// A number of `least` to `most` digits (at most 9).
    pub fn number(&mut self, least: usize, most: usize) -> Option<i32> {
        let count = self.peek_digits().min(most).min(9);
        if count < least {
            return None;
        }
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        Some(digits.iter().fold(0, |n, d| n * 10 + i32::from(d - b'0')))
    }

    /// The digits of a fraction, as nanoseconds; digits beyond the ninth are dropped.
    pub fn fraction(&mut self) -> Option<i32> {
        let count = self.peek_digits();
        if count == 0 {
            return None;
        }
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        let nanos = (0..9).fold(0, |n, at| {
            n * 10 + digits.get(at).map_or(0, |d| i32::from(d - b'0'))
        });
        Some(nanos)
    }

    /// `Z`, `+02`, `+0200` or `+02:00`.
    pub fn offset(&mut self) -> Option<Offset> {
        if self.eat(b'Z') {
            return Some(Offset::UTC);
        }
        let sign = match self.rest.first()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        self.rest = &self.rest[1..];
        let hours = self.number(2, 2)?;
        let colon = self.eat(b':');
        let minutes = match self.number(2, 2) {
            Some(m) => m,
            None if colon => return None,
            None => 0,
        };
        if hours > 23 || minutes > 59 {
            return None;
        }
        Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()
    }

    /// Letters of a zone's abbreviation.
    pub fn letters(&mut self) -> &'a [u8] {
        let count = self
            .rest
            .iter()
            .take_while(|b| b.is_ascii_alphabetic())
            .count();
        let (word, rest) = self.rest.split_at(count);
        self.rest = rest;
        word
    }
}

/// Places a local time: at its offset where one was read, else in the zone.
pub(super) fn place(
    dt: DateTime,
    offset: Option<Offset>,
    zone: &TimeZone,
) -> Option<ZonedDateTime> {
    let Some(offset) = offset else {
        return zone.to_zoned_datetime(dt).ok();
    };
    let timestamp = offset.to_timestamp(dt).ok()?;
    // An offset that is the server's own keeps the server's zone and with it the zone's name.
    let at = if zone.to_offset(timestamp) == offset {
        zone.clone()
    } else if offset.is_zero() {
        TimeZone::UTC
    } else {
        TimeZone::fixed(offset)
    };
    Some(timestamp.to_zoned_datetime(at))
}

fn numeric(text: &str, zone: &TimeZone) -> Option<ZonedDateTime> {
    let mut r = Reader::new(text);
    let (year, month, day, timed) = date(&mut r)?;
    let mut clock = (0, 0, 0, 0);
    let mut offset = None;
    if timed && !r.rest.is_empty() {
        if !r.eat(b'T') && !r.eat(b' ') {
            return None;
        }
        clock = time_of_day(&mut r)?;
        offset = zone_suffix(&mut r)?;
    }
    if !r.rest.is_empty() {
        return None;
    }
    let small = |n: i32| i8::try_from(n).ok();
    let dt = DateTime::new(
        i16::try_from(year).ok()?,
        small(month)?,
        small(day)?,
        small(clock.0)?,
        small(clock.1)?,
        small(clock.2)?,
        clock.3,
    );
    place(dt.ok()?, offset, zone)
}

/// Year, month and day, and whether a time of day may follow.
fn date(r: &mut Reader<'_>) -> Option<(i32, i32, i32, bool)> {
    match r.peek_digits() {
        8 => Some((r.number(4, 4)?, r.number(2, 2)?, r.number(2, 2)?, false)),
        4 => {
            let year = r.number(4, 4)?;
            let Some(&separator @ (b'-' | b'/' | b'.')) = r.rest.first() else {
                return Some((year, 1, 1, false));
            };
            r.eat(separator);
            let month = r.number(1, 2)?;
            if separator == b'-' && r.rest.is_empty() {
                return Some((year, month, 1, false));
            }
            if !r.eat(separator) {
                return None;
            }
            Some((year, month, r.number(1, 2)?, true))
        }
        1 | 2 => {
            let month = r.number(1, 2)?;
            let day = r.eat(b'/').then(|| r.number(1, 2))??;
            let year = r.eat(b'/').then(|| r.number(4, 4))??;
            Some((year, month, day, true))
        }
        _ => None,
    }
}

/// Hour, minute, second, nanosecond.
fn time_of_day(r: &mut Reader<'_>) -> Option<(i32, i32, i32, i32)> {
    let hour = r.number(1, 2)?;
    if !r.eat(b':') {
        return Some((hour, 0, 0, 0));
    }
    let minute = r.number(1, 2)?;
    if !r.eat(b':') {
        return Some((hour, minute, 0, 0));
    }
    let second = r.number(1, 2)?;
    // A leap second is refused rather than folded into the second before it.
    if second > 59 {
        return None;
    }
    let nanos = if r.eat(b'.') || r.eat(b',') {
        r.fraction()?
    } else {
        0
    };
    Some((hour, minute, second, nanos))
}

/// Nothing, an offset right behind the time, or ` +0200 CEST` as Go prints it.
fn zone_suffix(r: &mut Reader<'_>) -> Option<Option<Offset>> {
    if r.rest.is_empty() {
        return Some(None);
    }
    if !r.eat(b' ') {
        return r.offset().map(Some);
    }
    let offset = r.offset()?;
    let named = r.eat(b' ') && (!r.letters().is_empty() || r.offset().is_some());
    named.then_some(Some(offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::rfc3339;

    fn read(text: &str) -> String {
        read_time(text, &TimeZone::UTC).map_or_else(|_| "error".to_owned(), |t| rfc3339(&t))
    }

    #[test]
    fn all_forms() {
        let cases = [
            ("2021", "2021-01-01T00:00:00Z"),
            ("2021-3", "2021-03-01T00:00:00Z"),
            ("2021-3-4", "2021-03-04T00:00:00Z"),
            ("2021-03-04 05", "2021-03-04T05:00:00Z"),
            ("2021-3-4 05:06", "2021-03-04T05:06:00Z"),
            ("2021-03-04T05:06:07", "2021-03-04T05:06:07Z"),
            ("2021-03-04T05:06:07.123456Z", "2021-03-04T05:06:07.123456Z"),
            ("2021-03-04T05:06:07-03:30", "2021-03-04T05:06:07-03:30"),
            ("2021-03-04 05:06:07+0800", "2021-03-04T05:06:07+08:00"),
            ("2021-03-04 05:06:07.5 +0000 UTC", "2021-03-04T05:06:07.5Z"),
            (
                "2021-03-04 05:06:07 +0800 +0800",
                "2021-03-04T05:06:07+08:00",
            ),
            ("2021/03/04", "2021-03-04T00:00:00Z"),
            ("20210304", "2021-03-04T00:00:00Z"),
            ("2021/03/04 05:06:07", "2021-03-04T05:06:07Z"),
            ("3/4/2021", "2021-03-04T00:00:00Z"),
            ("Thu, 04 Mar 2021 05:06:07 GMT", "2021-03-04T05:06:07Z"),
            ("Thursday, 04-Mar-21 05:06:07 UTC", "2021-03-04T05:06:07Z"),
            ("Thu Mar  4 05:06:07 2021", "2021-03-04T05:06:07Z"),
            (
                "Thu, 04 Mar 2021 05:06:07 +0200",
                "2021-03-04T05:06:07+02:00",
            ),
        ];
        for (text, want) in cases {
            assert_eq!(read(text), want, "{text}");
        }
    }

    #[test]
    fn what_is_refused() {
        for text in [
            "",
            "nonsense",
            "04.03.2021 05:06",
            "2021-03-04 05:06:07 +0800",
            "2021-13-01",
            "2021-02-30",
            "2021-03-04 24:00",
            "2021-03-04T05:06:60Z",
            "2021-",
            "20210",
            "2021-03-04T",
            "2021-03-04 05:06:07 ",
            "-2021",
            "2021-03-04T05:06:07+2",
            "Thu, 04 Mar",
            "ä",
            "12",
        ] {
            assert_eq!(read(text), "error", "{text}");
        }
    }

    #[test]
    fn the_servers_zone() {
        let zone = TimeZone::get("Europe/Paris").unwrap();
        let t = read_time("2021-07-01 12:00:00", &zone).unwrap();
        assert_eq!(rfc3339(&t), "2021-07-01T12:00:00+02:00");
        let own = read_time("2021-07-01T12:00:00+02:00", &zone).unwrap();
        assert_eq!(crate::time::go_text(&own), "2021-07-01 12:00:00 +0200 CEST");
    }
}
