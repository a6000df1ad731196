//! FORMAT urlencoded: `a=1&b=x+y`.

use std::collections::BTreeMap;

use rekuiper_value::{Error, Object, Result, Str, Value};

use super::delimited::write_text;

/// A name that appears once gives text, more often a list of texts.
pub fn object(payload: &[u8]) -> Result<Object> {
    let mut all: BTreeMap<Str, Vec<Value>> = BTreeMap::new();
    for pair in payload.split(|b| *b == b'&').filter(|pair| !pair.is_empty()) {
        if pair.contains(&b';') {
            return Err(Error::new("invalid semicolon separator in urlencoded payload"));
        }
        let at = pair.iter().position(|b| *b == b'=');
        let (key, value) = match at {
            Some(at) => (&pair[..at], &pair[at + 1..]),
            None => (pair, &[][..]),
        };
        all.entry(unescape(key)?).or_default().push(Value::Str(unescape(value)?));
    }
    let one = |mut values: Vec<Value>| match values.len() {
        1 => values.pop().unwrap_or_default(),
        _ => Value::array(values),
    };
    Ok(all.into_iter().map(|(key, values)| (key, one(values))).collect())
}

fn unescape(text: &[u8]) -> Result<Str> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&b) = text.get(at) {
        match b {
            b'+' => out.push(b' '),
            b'%' => {
                let digits = text.get(at + 1..at + 3);
                let byte = digits
                    .filter(|d| d.iter().all(u8::is_ascii_hexdigit))
                    .and_then(|d| std::str::from_utf8(d).ok())
                    .and_then(|d| u8::from_str_radix(d, 16).ok());
                let Some(byte) = byte else {
                    let rest = &text[at..text.len().min(at + 3)];
                    return Err(Error::new(format!(
                        "invalid URL escape \"{}\": two hexadecimal digits must follow %",
                        String::from_utf8_lossy(rest)
                    )));
                };
                out.push(byte);
                at += 2;
            }
            _ => out.push(b),
        }
        at += 1;
    }
    Ok(String::from_utf8_lossy(&out).as_ref().into())
}

/// Names sorted, a list repeats its name, blanks are `+`.
pub fn encode(out: &mut Vec<u8>, row: &Object) {
    let start = out.len();
    for (key, value) in row {
        match value {
            Value::Missing => {}
            Value::Array(items) => {
                for item in items.iter() {
                    pair(out, start, key, item);
                }
            }
            value => pair(out, start, key, value),
        }
    }
}

fn pair(out: &mut Vec<u8>, start: usize, key: &str, value: &Value) {
    if out.len() > start {
        out.push(b'&');
    }
    escape(out, key.as_bytes());
    out.push(b'=');
    let mut text = Vec::new();
    write_text(&mut text, value);
    escape(out, &text);
}

fn escape(out: &mut Vec<u8>, text: &[u8]) {
    for &b in text {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(b),
            b' ' => out.push(b'+'),
            _ => {
                const HEX: &[u8; 16] = b"0123456789ABCDEF";
                out.extend_from_slice(&[b'%', HEX[usize::from(b >> 4)], HEX[usize::from(b & 15)]]);
            }
        }
    }
}
