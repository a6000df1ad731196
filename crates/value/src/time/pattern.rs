//! Time patterns in eKuiper's letters: `yyyy-MM-dd HH:mm:ssSSS`.

use jiff::ZonedDateTime;
use jiff::civil::{DateTime, Time};
use jiff::tz::{Offset, TimeZone};

use super::read::{Reader, place};
use super::{push_offset, push_zone_name};
use crate::{Error, Result};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// One part of a pattern.
#[derive(Clone, Debug, PartialEq)]
enum Item {
    Text(String),
    Year,
    YearOfCentury,
    /// Number of a month, in two digits or as few as it needs.
    Month(bool),
    MonthName(bool),
    Day(bool),
    DayName(bool),
    Hour24,
    Hour12(bool),
    HalfDay,
    Minute(bool),
    Second(bool),
    /// Fraction digits. They bring their own dot unless the pattern has one before them.
    Fraction(usize, bool),
    ZoneName,
    /// `+02`, `+0200` or `+02:00`.
    Offset(usize),
}

/// A pattern, read once and used for many times.
#[derive(Clone, Debug)]
pub struct Pattern {
    items: Vec<Item>,
}

/// Prints a time after a pattern of eKuiper's letters; a bad pattern is an error.
pub fn format_time(t: &ZonedDateTime, pattern: &str) -> Result<String> {
    Ok(Pattern::new(pattern)?.format(t))
}

/// Reads a time after a pattern of the same letters (also TIMESTAMP_FORMAT).
pub fn parse_with_format(text: &str, pattern: &str, zone: &TimeZone) -> Result<ZonedDateTime> {
    Pattern::new(pattern)?.parse(text, zone)
}

/// The full name of a month, 1 to 12.
fn month_name(month: i8) -> &'static str {
    usize::try_from(month - 1)
        .ok()
        .and_then(|at| MONTHS.get(at))
        .copied()
        .unwrap_or("")
}

/// The full name of a weekday, counted from Sunday.
fn day_name(from_sunday: i8) -> &'static str {
    usize::try_from(from_sunday)
        .ok()
        .and_then(|at| DAYS.get(at))
        .copied()
        .unwrap_or("")
}

impl Pattern {
    /// Letters: `YYYY yyyy YY yy G M MM MMM MMMM d dd EEE EEEE HH h hh a m mm s ss S… z Z X XX
    /// XXX`; `\` takes the next character as it is, `'…'` all between, `''` is a quote.
    pub fn new(pattern: &str) -> Result<Pattern> {
        let chars: Vec<char> = pattern.chars().collect();
        let mut items = Vec::new();
        let mut text = String::new();
        let mut at = 0;
        while at < chars.len() {
            let c = chars[at];
            if c == '\\' {
                at += 1;
                text.extend(chars.get(at));
                at += 1;
                continue;
            }
            if c == '\'' {
                at = quoted(&chars, at, &mut text).ok_or_else(|| bad(pattern, "'"))?;
                continue;
            }
            if !"YyGMdEHhamsSzZX".contains(c) {
                text.push(c);
                at += 1;
                continue;
            }
            let count = chars[at..].iter().take_while(|x| **x == c).count();
            // G and a stand for themselves each time, the others for as many as there are.
            let count = if c == 'G' || c == 'a' || c == 'z' || c == 'Z' {
                1
            } else {
                count
            };
            if c == 'G' {
                text.push_str("AD");
            } else {
                let dotted = text.ends_with('.') || text.ends_with(',');
                let item = letter(c, count, dotted)
                    .ok_or_else(|| bad(pattern, &c.to_string().repeat(count)))?;
                if !text.is_empty() {
                    items.push(Item::Text(std::mem::take(&mut text)));
                }
                items.push(item);
            }
            at += count;
        }
        if !text.is_empty() {
            items.push(Item::Text(text));
        }
        Ok(Pattern { items })
    }

    pub fn format(&self, t: &ZonedDateTime) -> String {
        let mut out = String::new();
        for item in &self.items {
            put(&mut out, item, t);
        }
        out
    }

    /// Reads a text that has exactly the pattern's form. What the pattern does not give is the
    /// start of year 0001; a zone that it does not give is `zone`.
    pub fn parse(&self, text: &str, zone: &TimeZone) -> Result<ZonedDateTime> {
        let mut r = Reader::new(text);
        let mut parts = Parts::default();
        for (at, item) in self.items.iter().enumerate() {
            let more_fraction = matches!(self.items.get(at + 1), Some(Item::Fraction(..)));
            let next = self.items.get(at + 1);
            let dot_next = matches!(next, Some(Item::Text(t)) if t.starts_with('.'));
            take(&mut r, item, &mut parts, zone)
                .filter(|()| fits(item, &parts))
                .ok_or_else(|| unread(text))?;
            // As in Go, seconds may have a fraction that the pattern does not speak of.
            if matches!(item, Item::Second(_)) && !more_fraction && !dot_next && r.eat(b'.') {
                parts.nanos = r.fraction().ok_or_else(|| unread(text))?;
            }
        }
        if !r.rest.is_empty() {
            return Err(unread(text));
        }
        parts.time(zone).ok_or_else(|| unread(text))
    }
}

fn bad(pattern: &str, part: &str) -> Error {
    Error::new(format!(
        "invalid time format {pattern:?}: {part} is not among yyyy yy M MM MMM MMMM d dd EEE EEEE \
         HH h hh a m mm s ss S z Z X XX XXX and closed '…'"
    ))
}

fn unread(text: &str) -> Error {
    Error::new(format!(
        "cannot read {text:?} as a time after the given format"
    ))
}

/// Takes a quoted part that starts at `at`; the position behind it, or None if it never closes.
fn quoted(chars: &[char], at: usize, text: &mut String) -> Option<usize> {
    if chars.get(at + 1) == Some(&'\'') {
        text.push('\'');
        return Some(at + 2);
    }
    let length = chars[at + 1..].iter().position(|c| *c == '\'')?;
    text.extend(&chars[at + 1..at + 1 + length]);
    Some(at + length + 2)
}

fn letter(c: char, count: usize, dotted: bool) -> Option<Item> {
    Some(match (c, count) {
        ('Y' | 'y', 4) => Item::Year,
        ('Y' | 'y', 2) => Item::YearOfCentury,
        ('M', 1 | 2) => Item::Month(count == 2),
        ('M', 3 | 4) => Item::MonthName(count == 4),
        ('d', 1 | 2) => Item::Day(count == 2),
        ('E', 3 | 4) => Item::DayName(count == 4),
        ('H', 2) => Item::Hour24,
        ('h', 1 | 2) => Item::Hour12(count == 2),
        ('a', _) => Item::HalfDay,
        ('m', 1 | 2) => Item::Minute(count == 2),
        ('s', 1 | 2) => Item::Second(count == 2),
        ('S', _) => Item::Fraction(count, dotted),
        ('z', _) => Item::ZoneName,
        ('Z', _) => Item::Offset(2),
        ('X', 1..=3) => Item::Offset(count),
        _ => return None,
    })
}

fn put(out: &mut String, item: &Item, t: &ZonedDateTime) {
    let hour12 = (t.hour() + 11) % 12 + 1;
    match item {
        Item::Text(text) => out.push_str(text),
        Item::Year => out.push_str(&format!("{:04}", t.year())),
        Item::YearOfCentury => out.push_str(&format!("{:02}", t.year().rem_euclid(100))),
        Item::Month(two) => number(out, t.month(), *two),
        Item::MonthName(full) => name(out, month_name(t.month()), *full),
        Item::Day(two) => number(out, t.day(), *two),
        Item::DayName(full) => name(out, day_name(t.weekday().to_sunday_zero_offset()), *full),
        Item::Hour24 => number(out, t.hour(), true),
        Item::Hour12(two) => number(out, hour12, *two),
        Item::HalfDay => out.push_str(if t.hour() < 12 { "AM" } else { "PM" }),
        Item::Minute(two) => number(out, t.minute(), *two),
        Item::Second(two) => number(out, t.second(), *two),
        Item::Fraction(count, dotted) => {
            if !dotted {
                out.push('.');
            }
            let digits = format!("{:09}", t.subsec_nanosecond());
            out.extend(
                digits
                    .chars()
                    .chain(std::iter::repeat('0'))
                    .take((*count).min(100)),
            );
        }
        Item::ZoneName => push_zone_name(out, t),
        Item::Offset(1) => {
            let seconds = t.offset().seconds();
            out.push(if seconds < 0 { '-' } else { '+' });
            out.push_str(&format!("{:02}", seconds.unsigned_abs() / 3600));
        }
        Item::Offset(width) => push_offset(out, t.offset().seconds(), *width == 3),
    }
}

fn number(out: &mut String, n: i8, two: bool) {
    if two && n < 10 {
        out.push('0');
    }
    out.push_str(&n.to_string());
}

fn name(out: &mut String, word: &str, full: bool) {
    out.push_str(if full {
        word
    } else {
        word.get(..3).unwrap_or(word)
    });
}

/// What was read so far.
struct Parts {
    year: i32,
    month: i32,
    day: i32,
    hour: i32,
    minute: i32,
    second: i32,
    nanos: i32,
    afternoon: Option<bool>,
    offset: Option<Offset>,
}

impl Default for Parts {
    fn default() -> Self {
        Parts {
            year: 1,
            month: 1,
            day: 1,
            hour: 0,
            minute: 0,
            second: 0,
            nanos: 0,
            afternoon: None,
            offset: None,
        }
    }
}

impl Parts {
    fn time(&self, zone: &TimeZone) -> Option<ZonedDateTime> {
        let hour = match self.afternoon {
            None => self.hour,
            Some(afternoon) => self.hour % 12 + if afternoon { 12 } else { 0 },
        };
        let small = |n: i32| i8::try_from(n).ok();
        let clock = Time::new(
            small(hour)?,
            small(self.minute)?,
            small(self.second)?,
            self.nanos,
        )
        .ok()?;
        let year = i16::try_from(self.year).ok()?;
        let date = jiff::civil::Date::new(year, small(self.month)?, small(self.day)?).ok()?;
        place(DateTime::from_parts(date, clock), self.offset, zone)
    }
}

fn fits(item: &Item, parts: &Parts) -> bool {
    !matches!(item, Item::Hour12(_)) || (0..=12).contains(&parts.hour)
}

fn take(r: &mut Reader<'_>, item: &Item, parts: &mut Parts, zone: &TimeZone) -> Option<()> {
    let two = |r: &mut Reader<'_>, padded: bool| r.number(if padded { 2 } else { 1 }, 2);
    match item {
        Item::Text(text) => return literal(r, text),
        Item::Year => parts.year = r.number(4, 4)?,
        Item::YearOfCentury => {
            let year = r.number(2, 2)?;
            parts.year = year + if year >= 69 { 1900 } else { 2000 };
        }
        Item::Month(padded) => parts.month = two(r, *padded)?,
        Item::MonthName(full) => parts.month = one_of(r, &MONTHS, *full)? + 1,
        Item::Day(padded) => {
            // A lone digit may be filled up with a blank, as `date` prints it.
            if !padded {
                r.eat(b' ');
            }
            parts.day = two(r, *padded)?;
        }
        Item::DayName(full) => {
            one_of(r, &DAYS, *full)?;
        }
        Item::Hour24 => parts.hour = two(r, true)?,
        Item::Hour12(padded) => parts.hour = two(r, *padded)?,
        Item::HalfDay => parts.afternoon = Some(one_of(r, &["AM", "PM"], true)? == 1),
        Item::Minute(padded) => parts.minute = two(r, *padded)?,
        Item::Second(padded) => parts.second = two(r, *padded)?,
        Item::Fraction(_, dotted) => {
            if !dotted && !r.eat(b'.') && !r.eat(b',') {
                return None;
            }
            parts.nanos = r.fraction()?;
        }
        Item::ZoneName => parts.offset = zone_name(r, zone)?,
        Item::Offset(_) => parts.offset = Some(r.offset()?),
    }
    Some(())
}

fn literal(r: &mut Reader<'_>, text: &str) -> Option<()> {
    r.rest = r.rest.strip_prefix(text.as_bytes())?;
    Some(())
}

/// The position of the name that the text goes on with, in any case.
fn one_of(r: &mut Reader<'_>, names: &[&str], full: bool) -> Option<i32> {
    let hit = names.iter().enumerate().find_map(|(at, name)| {
        let name = if full { name } else { name.get(..3)? };
        let found = r
            .rest
            .get(..name.len())?
            .eq_ignore_ascii_case(name.as_bytes());
        found.then_some((at, name.len()))
    });
    let (at, length) = hit?;
    r.rest = &r.rest[length..];
    i32::try_from(at).ok()
}

/// `UTC`, `GMT`, the zone's own abbreviations or an offset. As in Go, other abbreviations are
/// taken as UTC, since nobody can say what they stand for.
fn zone_name(r: &mut Reader<'_>, zone: &TimeZone) -> Option<Option<Offset>> {
    if matches!(r.rest.first(), Some(b'+' | b'-')) {
        return r.offset().map(Some);
    }
    let word = r.letters();
    if word.is_empty() || word.len() > 5 {
        return None;
    }
    let own = zone.iana_name().is_some()
        && !matches!(word, b"UTC" | b"GMT" | b"Z")
        && [1_704_067_200, 1_719_792_000].iter().any(|second| {
            jiff::Timestamp::from_second(*second)
                .is_ok_and(|t| zone.to_offset_info(t).abbreviation().as_bytes() == word)
        });
    Some(if own { None } else { Some(Offset::UTC) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{from_millis, rfc3339};

    fn show(ms: i64, pattern: &str) -> String {
        let t = from_millis(ms, &TimeZone::UTC).unwrap();
        format_time(&t, pattern).unwrap_or_else(|_| "error".to_owned())
    }

    #[test]
    fn letters() {
        let cases = [
            ("YYYY yyyy YY yy", "2020 2020 20 20"),
            ("M MM MMM MMMM", "4 04 Apr April"),
            ("d dd EEE EEEE", "1 01 Wed Wednesday"),
            ("HH h hh a", "14 2 02 PM"),
            ("m mm s ss", "32 32 3 03"),
            ("HH:mm:ssSSS", "14:32:03.007"),
            ("ss.SSS", "03.007"),
            ("S SS SSSSSS", ".0 .00 .007000"),
            ("z Z X XX XXX", "UTC +0000 +00 +0000 +00:00"),
            ("G", "AD"),
            ("yyyy\\TMM\\Zdd", "2020T04Z01"),
            ("'day' dd ''", "day 01 '"),
            ("", ""),
            ("-/: ,", "-/: ,"),
            ("SSSSSSSSSSSS", ".007000000000"),
        ];
        for (pattern, want) in cases {
            assert_eq!(show(1585751523007, pattern), want, "{pattern}");
        }
        for pattern in [
            "yyy", "H", "E", "EE", "ddd", "MMMMM", "XXXX", "yyyy'", "'abc", "HHH",
        ] {
            assert_eq!(show(0, pattern), "error", "{pattern}");
        }
    }

    #[test]
    fn reading_after_a_pattern() {
        let cases = [
            (
                "2024/05/06 07:08:09",
                "yyyy/MM/dd HH:mm:ss",
                "2024-05-06T07:08:09Z",
            ),
            (
                "2024-05-06 07:08:09.25",
                "yyyy-MM-dd HH:mm:ss",
                "2024-05-06T07:08:09.25Z",
            ),
            (
                "2024-05-06 07:08:09.250",
                "YYYY-MM-dd HH:mm:ss.SSS",
                "2024-05-06T07:08:09.25Z",
            ),
            (
                "2024-05-06 07:08:09.250",
                "YYYY-MM-dd HH:mm:ssSSS",
                "2024-05-06T07:08:09.25Z",
            ),
            ("20240506", "yyyyMMdd", "2024-05-06T00:00:00Z"),
            (
                "6 May 24 1:05 pm +0200",
                "d MMM yy h:mm a Z",
                "2024-05-06T13:05:00+02:00",
            ),
            ("12:00 AM 2024", "hh:mm a yyyy", "2024-01-01T00:00:00Z"),
            ("2024T05", "yyyy\\TMM", "2024-05-01T00:00:00Z"),
        ];
        for (text, pattern, want) in cases {
            let t = parse_with_format(text, pattern, &TimeZone::UTC);
            assert_eq!(t.map(|t| rfc3339(&t)), Ok(want.to_owned()), "{text}");
        }
        for (text, pattern) in [
            ("2024", "yy"),
            ("2024-13", "yyyy-MM"),
            ("", "yyyy"),
            ("x", "H"),
            ("13 PM", "h a"),
            ("2024-05-06x", "yyyy-MM-dd"),
            ("\u{e4}", "MMM"),
        ] {
            assert!(
                parse_with_format(text, pattern, &TimeZone::UTC).is_err(),
                "{text}"
            );
        }
    }
}
