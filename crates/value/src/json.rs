//! JSON text of values as eKuiper writes it, and a plain reader for the cold paths.
//!
//! Keys sorted by bytes, no spaces, `< > &`, controls and U+2028/9 escaped, bytes as base64,
//! datetimes as RFC 3339, doubles as in [`crate::number::write_json_f64`]. NaN and infinity have no
//! JSON form: an error, and the emission is lost.

use base64::Engine as _;

use crate::{Error, Object, Result, Str, Value, number};

/// Deepest nesting that is read from a payload.
pub const JSON_DEPTH_MAX: usize = 512;

/// Appends the value. A `Missing` is written as null; whoever writes a row leaves it out.
pub fn write_value(out: &mut Vec<u8>, value: &Value) -> Result<()> {
    match value {
        Value::Missing | Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Int(i) | Value::Wide(i) => number::write_i64(out, *i),
        Value::Float(f) if f.is_finite() => number::write_json_f64(out, *f),
        Value::Float(f) => {
            let text = format!("json: unsupported value: {f}: JSON has no such number");
            return Err(Error::new(text));
        }
        Value::Str(s) => write_str(out, s.as_bytes()),
        Value::Bytes(b) => write_base64(out, b),
        Value::Array(items) => {
            out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_value(out, item)?;
            }
            out.push(b']');
        }
        Value::Object(members) => write_object(out, members)?,
        Value::Time(t) => {
            out.push(b'"');
            out.extend_from_slice(crate::time::rfc3339(t).as_bytes());
            out.push(b'"');
        }
    }
    Ok(())
}

pub fn write_object(out: &mut Vec<u8>, members: &Object) -> Result<()> {
    out.push(b'{');
    let mut first = true;
    for (key, value) in members {
        if value.is_missing() {
            continue;
        }
        if !first {
            out.push(b',');
        }
        first = false;
        write_str(out, key.as_bytes());
        out.push(b':');
        write_value(out, value)?;
    }
    out.push(b'}');
    Ok(())
}

pub fn to_string(value: &Value) -> Result<String> {
    let mut out = Vec::new();
    write_value(&mut out, value)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

pub fn write_base64(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    let written = base64::engine::general_purpose::STANDARD.encode_slice(bytes, &mut out[start..]);
    out.truncate(start + written.unwrap_or(0));
    out.push(b'"');
}

/// Writes text (UTF-8, or bytes that were meant to be) as a JSON string.
pub fn write_str(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    write_str_inside(out, text);
    out.push(b'"');
}

/// The same without the quotes.
pub fn write_str_inside(out: &mut Vec<u8>, text: &[u8]) {
    let mut from = 0;
    for (at, &b) in text.iter().enumerate() {
        let special = b < 0x20 || matches!(b, b'"' | b'\\' | b'<' | b'>' | b'&' | 0x7f..);
        if !special || b == 0x7f {
            continue;
        }
        if b >= 0x80 {
            // U+2028 and U+2029 are E2 80 A8/A9; everything else beyond ASCII stays as it is
            if b == 0xe2 && text.get(at + 1) == Some(&0x80) {
                let escape: &[u8] = match text.get(at + 2) {
                    Some(0xa8) => b"\\u2028",
                    Some(0xa9) => b"\\u2029",
                    _ => continue,
                };
                out.extend_from_slice(&text[from..at]);
                out.extend_from_slice(escape);
                from = at + 3;
            }
            continue;
        }
        out.extend_from_slice(&text[from..at]);
        from = at + 1;
        match b {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            _ => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(b >> 4)]);
                out.push(HEX[usize::from(b & 15)]);
            }
        }
    }
    out.extend_from_slice(&text[from..]);
}

/// Number text of a schemaless stream: a double, or `Wide` where a double would lose digits.
pub fn schemaless_number(text: &[u8]) -> Option<Value> {
    if text.len() > 15
        && let Some(i) = number::parse_i64(text)
        && i.unsigned_abs() > 1 << 53
    {
        return Some(Value::Wide(i));
    }
    number::parse_f64(text).map(Value::Float)
}

/// Reads JSON text into a value, numbers as in a schemaless stream. For cold paths (schemas,
/// parse_json, cells that hold arrays and objects): the hot path scans cells instead.
pub fn parse(text: &[u8]) -> Result<Value> {
    let mut reader = Reader { text, at: 0 };
    reader.space();
    let value = reader.value(0)?;
    reader.space();
    if reader.at != text.len() {
        return Err(reader.error("end of the text"));
    }
    Ok(value)
}

/// Unescapes the inside of a JSON string. Invalid escapes stay as they are written; lone
/// surrogates and invalid UTF-8 become U+FFFD.
pub fn unescape(inside: &[u8]) -> Str {
    if !inside.contains(&b'\\') {
        return Str::from(String::from_utf8_lossy(inside).as_ref());
    }
    let mut out: Vec<u8> = Vec::with_capacity(inside.len());
    let mut at = 0;
    while at < inside.len() {
        let b = inside[at];
        if b != b'\\' {
            out.push(b);
            at += 1;
            continue;
        }
        at += 2;
        match inside.get(at - 1) {
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(b'r') => out.push(b'\r'),
            Some(b'b') => out.push(8),
            Some(b'f') => out.push(12),
            Some(b'u') => {
                let (c, used) = unicode_escape(&inside[at..]);
                at += used;
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Some(&c) => out.push(c),
            None => break,
        }
    }
    Str::from(String::from_utf8_lossy(&out).as_ref())
}

fn hex4(text: &[u8]) -> Option<u32> {
    let four = std::str::from_utf8(text.get(..4)?).ok()?;
    u32::from_str_radix(four, 16).ok()
}

fn unicode_escape(text: &[u8]) -> (char, usize) {
    let Some(high) = hex4(text) else { return ('\u{fffd}', 0) };
    if (0xd800..0xdc00).contains(&high)
        && text.get(4..6) == Some(b"\\u")
        && let Some(low) = hex4(&text[6..])
        && (0xdc00..0xe000).contains(&low)
    {
        let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        return (char::from_u32(code).unwrap_or('\u{fffd}'), 10);
    }
    (char::from_u32(high).unwrap_or('\u{fffd}'), 4)
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn error(&self, expected: &str) -> Error {
        let found = match self.text.get(self.at) {
            Some(b) => format!("{:?}", *b as char),
            None => "the end".into(),
        };
        Error::new(format!(
            "cannot parse JSON: expected {expected} at byte {}, found {found}",
            self.at
        ))
    }

    fn space(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value> {
        if self.text[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(value);
        }
        Err(self.error("a value"))
    }

    fn value(&mut self, depth: usize) -> Result<Value> {
        if depth > JSON_DEPTH_MAX {
            return Err(Error::new(format!("JSON is nested deeper than {JSON_DEPTH_MAX} levels")));
        }
        match self.text.get(self.at) {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Value::Str(self.string()?)),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.error("a value")),
        }
    }

    fn number(&mut self) -> Result<Value> {
        let start = self.at;
        let digits = |r: &mut Self| {
            let from = r.at;
            while matches!(r.text.get(r.at), Some(b'0'..=b'9')) {
                r.at += 1;
            }
            if r.at == from { Err(r.error("a digit")) } else { Ok(()) }
        };
        if self.text.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        if self.text.get(self.at) == Some(&b'0') {
            self.at += 1;
        } else {
            digits(self)?;
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            digits(self)?;
        }
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.text.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            digits(self)?;
        }
        schemaless_number(&self.text[start..self.at])
            .ok_or_else(|| Error::new("cannot parse JSON: number out of range"))
    }

    fn string(&mut self) -> Result<Str> {
        let start = self.at + 1;
        let mut at = start;
        loop {
            match self.text.get(at) {
                Some(b'"') => break,
                Some(b'\\') => at += 2,
                Some(0..=0x1f) | None => {
                    self.at = at.min(self.text.len());
                    return Err(self.error("the end of the string"));
                }
                Some(_) => at += 1,
            }
        }
        self.at = at + 1;
        Ok(unescape(&self.text[start..at]))
    }

    fn array(&mut self, depth: usize) -> Result<Value> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.text.get(self.at) == Some(&b']') {
            self.at += 1;
            return Ok(Value::array(items));
        }
        loop {
            self.space();
            items.push(self.value(depth + 1)?);
            self.space();
            match self.text.get(self.at) {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::array(items));
                }
                _ => return Err(self.error("',' or ']'")),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value> {
        self.at += 1;
        let mut members = Object::new();
        self.space();
        if self.text.get(self.at) == Some(&b'}') {
            self.at += 1;
            return Ok(Value::object(members));
        }
        loop {
            self.space();
            if self.text.get(self.at) != Some(&b'"') {
                return Err(self.error("a member name"));
            }
            let key = self.string()?;
            self.space();
            if self.text.get(self.at) != Some(&b':') {
                return Err(self.error("':'"));
            }
            self.at += 1;
            self.space();
            let value = self.value(depth + 1)?;
            members.insert(key, value);
            self.space();
            match self.text.get(self.at) {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::object(members));
                }
                _ => return Err(self.error("',' or '}'")),
            }
        }
    }
}

/// From serde_json (configuration, REST bodies); whole numbers become `Int` when `ints` is set,
/// else as in a schemaless stream.
pub fn from_serde(json: &serde_json::Value, ints: bool) -> Value {
    use serde_json::Value as J;
    match json {
        J::Null => Value::Null,
        J::Bool(b) => Value::Bool(*b),
        J::Number(n) => match n.as_i64() {
            Some(i) if ints => Value::Int(i),
            Some(i) if i.unsigned_abs() > 1 << 53 => Value::Wide(i),
            _ => Value::Float(n.as_f64().unwrap_or(0.0)),
        },
        J::String(s) => Value::str(s.as_str()),
        J::Array(items) => Value::array(items.iter().map(|v| from_serde(v, ints)).collect()),
        J::Object(map) => Value::object(
            map.iter().map(|(k, v)| (Str::from(k.as_str()), from_serde(v, ints))).collect(),
        ),
    }
}

/// To serde_json; whole doubles below 2^53 become JSON integers. NaN and infinity become null.
pub fn to_serde(value: &Value) -> serde_json::Value {
    use serde_json::Value as J;
    match value {
        Value::Float(f) if f.trunc() == *f && f.abs() < 9e15 => J::from(*f as i64),
        Value::Float(f) => serde_json::Number::from_f64(*f).map_or(J::Null, J::Number),
        Value::Array(items) => J::Array(items.iter().map(to_serde).collect()),
        Value::Object(members) => J::Object(
            members
                .iter()
                .filter(|(_, v)| !v.is_missing())
                .map(|(k, v)| (k.to_string(), to_serde(v)))
                .collect(),
        ),
        other => {
            to_string(other).ok().and_then(|t| serde_json::from_str(&t).ok()).unwrap_or(J::Null)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(text: &str) -> String {
        to_string(&parse(text.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn writes_as_the_reference_does() {
        assert_eq!(
            round(r#" {"b":1.0,"a":[1e3,-0.5,true,null,"x<y\u00e9\n"],"c":{}} "#),
            r#"{"a":[1000,-0.5,true,null,"x\u003cyé\n"],"b":1,"c":{}}"#
        );
        assert_eq!(round("1795292668348461056"), "1795292668348461056");
        assert_eq!(round(r#""\ud83d\ude00\u2028""#), "\"😀\\u2028\"");
        assert_eq!(to_string(&Value::bytes(*b"abcd")).unwrap(), "\"YWJjZA==\"");
        assert!(to_string(&Value::Float(f64::NAN)).is_err());
    }

    #[test]
    fn refuses_what_is_no_json() {
        for bad in
            ["", "{", "[1,]", "{\"a\":}", "01", "1.", "tru", "\"a", "{} x", "\"\u{1}\"", "nan"]
        {
            assert!(parse(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(parse(&vec![b'['; 100_000]).is_err());
    }
}
