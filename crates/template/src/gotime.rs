//! Go's time layouts (`2006-01-02 15:04:05`), and the methods of times.

use jiff::ZonedDateTime;
use jiff::civil;
use jiff::tz::{Offset, TimeZone};
use rekuiper_value::{Value, time};

/// The pieces of a layout, longest first where one begins another.
const PIECES: &[&str] = &[
    "January", "Jan", "Monday", "Mon", "MST", "2006", "-07:00", "-0700", "-07", "Z07:00", "Z0700",
    "002", "01", "02", "03", "04", "05", "06", "15", "PM", "pm", "_2", "1", "2", "3", "4", "5",
];

/// Splits off the layout's first piece: text before it, the piece, the rest.
fn split(layout: &str) -> Option<(&str, &str, &str)> {
    for (at, _) in layout.char_indices() {
        let rest = &layout[at..];
        if rest.starts_with(['.', ',']) {
            let digits = rest[1..].bytes().take_while(|b| matches!(b, b'0' | b'9')).count();
            let same =
                rest.as_bytes().get(1..1 + digits).is_some_and(|d| d.iter().all(|b| *b == d[0]));
            let ends = !rest[1 + digits..].starts_with(|c: char| c.is_ascii_digit());
            if digits > 0 && same && ends {
                return Some((&layout[..at], &rest[..1 + digits], &rest[1 + digits..]));
            }
        }
        if let Some(piece) = PIECES.iter().find(|piece| rest.starts_with(**piece)) {
            return Some((&layout[..at], piece, &rest[piece.len()..]));
        }
    }
    None
}

pub fn format(t: &ZonedDateTime, layout: &str) -> String {
    let mut out = String::new();
    let mut rest = layout;
    while let Some((before, piece, after)) = split(rest) {
        out += before;
        out += &field(t, piece);
        rest = after;
    }
    out + rest
}

fn field(t: &ZonedDateTime, piece: &str) -> String {
    let hour12 = (t.hour() + 11) % 12 + 1;
    let offset = t.offset().seconds();
    match piece {
        "January" => t.strftime("%B").to_string(),
        "Jan" => t.strftime("%b").to_string(),
        "Monday" => t.strftime("%A").to_string(),
        "Mon" => t.strftime("%a").to_string(),
        "MST" => time::go_text(t).rsplit(' ').next().unwrap_or("UTC").to_owned(),
        "2006" => format!("{:04}", t.year()),
        "06" => format!("{:02}", t.year().rem_euclid(100)),
        "01" => format!("{:02}", t.month()),
        "1" => t.month().to_string(),
        "02" => format!("{:02}", t.day()),
        "_2" => format!("{:2}", t.day()),
        "2" => t.day().to_string(),
        "002" => format!("{:03}", t.day_of_year()),
        "15" => format!("{:02}", t.hour()),
        "03" => format!("{hour12:02}"),
        "3" => hour12.to_string(),
        "04" => format!("{:02}", t.minute()),
        "4" => t.minute().to_string(),
        "05" => format!("{:02}", t.second()),
        "5" => t.second().to_string(),
        "PM" => if t.hour() < 12 { "AM" } else { "PM" }.into(),
        "pm" => if t.hour() < 12 { "am" } else { "pm" }.into(),
        "Z07:00" | "Z0700" if offset == 0 => "Z".into(),
        "Z07:00" | "-07:00" => zone(offset, ":"),
        "Z0700" | "-0700" => zone(offset, ""),
        "-07" => zone(offset, "")[..3].into(),
        fraction => {
            let digits = format!("{:09}", t.subsec_nanosecond());
            let digits = digits.get(..fraction.len() - 1).unwrap_or(&digits);
            if fraction.ends_with('0') {
                return format!("{}{digits}", &fraction[..1]);
            }
            match digits.trim_end_matches('0') {
                "" => String::new(),
                digits => format!("{}{digits}", &fraction[..1]),
            }
        }
    }
}

fn zone(seconds: i32, colon: &str) -> String {
    let minutes = seconds.unsigned_abs() / 60;
    let sign = if seconds < 0 { '-' } else { '+' };
    format!("{sign}{:02}{colon}{:02}", minutes / 60, minutes % 60)
}

/// Reads a text after a layout; `None` when it has another form.
pub fn parse(layout: &str, text: &str, zone: &TimeZone) -> Option<ZonedDateTime> {
    let mut parts = [1i64, 1, 1, 0, 0, 0];
    let (mut nanos, mut offset, mut pm) = (0, None, None);
    let (mut layout, mut text) = (layout, text);
    while let Some((before, piece, after)) = split(layout) {
        text = text.strip_prefix(before)?;
        layout = after;
        text = match piece {
            "January" | "Jan" | "Monday" | "Mon" => named(piece, text, &mut parts)?,
            "MST" => text.trim_start_matches(|c: char| c.is_ascii_alphabetic()),
            "2006" => digits(text, 4, 4, &mut parts[0])?,
            "06" => {
                let rest = digits(text, 2, 2, &mut parts[0])?;
                parts[0] += if parts[0] < 69 { 2000 } else { 1900 };
                rest
            }
            "01" => digits(text, 2, 2, &mut parts[1])?,
            "1" => digits(text, 1, 2, &mut parts[1])?,
            "02" => digits(text, 2, 2, &mut parts[2])?,
            "_2" | "2" => digits(text.trim_start_matches(' '), 1, 2, &mut parts[2])?,
            "15" | "03" => digits(text, 2, 2, &mut parts[3])?,
            "3" => digits(text, 1, 2, &mut parts[3])?,
            "04" => digits(text, 2, 2, &mut parts[4])?,
            "4" => digits(text, 1, 2, &mut parts[4])?,
            "05" | "5" => {
                let rest = digits(text, piece.len(), 2, &mut parts[5])?;
                // a fraction is read although the layout has none
                match layout.starts_with(['.', ',']) {
                    true => rest,
                    false => fraction(rest, &mut nanos),
                }
            }
            "PM" | "pm" => {
                pm = Some(text.get(..2)?.eq_ignore_ascii_case("pm"));
                text.get(2..)?
            }
            "002" => return None,
            piece if piece.starts_with(['.', ',']) => fraction(text, &mut nanos),
            piece => read_offset(piece, text, &mut offset)?,
        };
    }
    if text != layout {
        return None;
    }
    if let Some(pm) = pm {
        parts[3] = parts[3] % 12 + if pm { 12 } else { 0 };
    }
    let small = |n: i64| i8::try_from(n).ok();
    let date = civil::DateTime::new(
        i16::try_from(parts[0]).ok()?,
        small(parts[1])?,
        small(parts[2])?,
        small(parts[3])?,
        small(parts[4])?,
        small(parts[5])?,
        nanos,
    )
    .ok()?;
    let zone = match offset {
        Some(0) => TimeZone::UTC,
        Some(seconds) => TimeZone::fixed(Offset::from_seconds(seconds).ok()?),
        None => zone.clone(),
    };
    zone.to_zoned_datetime(date).ok()
}

fn digits<'a>(text: &'a str, least: usize, most: usize, into: &mut i64) -> Option<&'a str> {
    let len = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    if len < least {
        return None;
    }
    *into = text[..len].parse().ok()?;
    Some(&text[len..])
}

fn fraction<'a>(text: &'a str, nanos: &mut i32) -> &'a str {
    let Some(rest) = text.strip_prefix(['.', ',']) else { return text };
    let len = rest.bytes().take_while(u8::is_ascii_digit).count();
    if len == 0 {
        return text;
    }
    let nine: String = rest[..len].chars().chain("000000000".chars()).take(9).collect();
    *nanos = nine.parse().unwrap_or(0);
    &rest[len..]
}

fn named<'a>(piece: &str, text: &'a str, parts: &mut [i64; 6]) -> Option<&'a str> {
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
    const DAYS: [&str; 7] =
        ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    let month = piece.starts_with('J');
    let names: &[&str] = if month { &MONTHS } else { &DAYS };
    let short = piece.len() == 3;
    for (at, name) in names.iter().enumerate() {
        let name = if short { &name[..3] } else { name };
        if text.get(..name.len()).is_some_and(|t| t.eq_ignore_ascii_case(name)) {
            if month {
                parts[1] = at as i64 + 1;
            }
            return Some(&text[name.len()..]);
        }
    }
    None
}

fn read_offset<'a>(piece: &str, text: &'a str, offset: &mut Option<i32>) -> Option<&'a str> {
    if piece.starts_with('Z')
        && let Some(rest) = text.strip_prefix('Z')
    {
        *offset = Some(0);
        return Some(rest);
    }
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (mut hours, mut minutes) = (0, 0);
    let mut rest = digits(&text[1..], 2, 2, &mut hours)?;
    if piece != "-07" {
        if piece.contains(':') {
            rest = rest.strip_prefix(':')?;
        }
        rest = digits(rest, 2, 2, &mut minutes)?;
    }
    *offset = Some(sign * (hours * 3600 + minutes * 60) as i32);
    Some(rest)
}

/// The methods of a time that take no argument.
pub fn method(t: &ZonedDateTime, name: &str) -> Option<Value> {
    let nanos = t.timestamp().as_nanosecond();
    let whole = |n: i128| Some(Value::Int(i64::try_from(n).unwrap_or(i64::MAX)));
    match name {
        "Unix" => whole(nanos.div_euclid(1_000_000_000)),
        "UnixMilli" => whole(nanos.div_euclid(1_000_000)),
        "UnixMicro" => whole(nanos.div_euclid(1_000)),
        "UnixNano" => whole(nanos),
        "Year" => Some(Value::Int(i64::from(t.year()))),
        "Day" => Some(Value::Int(i64::from(t.day()))),
        "Hour" => Some(Value::Int(i64::from(t.hour()))),
        "Minute" => Some(Value::Int(i64::from(t.minute()))),
        "Second" => Some(Value::Int(i64::from(t.second()))),
        "YearDay" => Some(Value::Int(i64::from(t.day_of_year()))),
        "Month" => Some(Value::str(t.strftime("%B").to_string())),
        "Weekday" => Some(Value::str(t.strftime("%A").to_string())),
        "String" => Some(Value::str(time::go_text(t))),
        "UTC" => Some(Value::Time(t.with_time_zone(TimeZone::UTC).into())),
        _ => None,
    }
}
