//! Datetimes: the text forms that eKuiper reads and the ones it prints.

use jiff::ZonedDateTime;

/// RFC 3339 with the value's own offset and only the fraction digits it needs: the JSON form.
pub fn rfc3339(t: &ZonedDateTime) -> String {
    let mut text = t.strftime("%Y-%m-%dT%H:%M:%S").to_string();
    push_fraction(&mut text, t);
    let offset = t.offset().seconds();
    if offset == 0 {
        text.push('Z');
    } else {
        text.push_str(&t.strftime("%:z").to_string());
    }
    text
}

/// As Go's `%v` prints a time: `2020-04-01 02:00:00.123 +0000 UTC`.
pub fn go_text(t: &ZonedDateTime) -> String {
    let mut text = t.strftime("%Y-%m-%d %H:%M:%S").to_string();
    push_fraction(&mut text, t);
    text.push_str(&t.strftime(" %z %Z").to_string());
    text
}

fn push_fraction(text: &mut String, t: &ZonedDateTime) {
    let nanos = t.subsec_nanosecond();
    if nanos != 0 {
        let digits = format!("{nanos:09}");
        text.push('.');
        text.push_str(digits.trim_end_matches('0'));
    }
}
