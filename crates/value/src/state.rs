//! Values as bytes, for operator states on disk: exact in every kind (`Missing` and null, integers
//! and doubles stay apart), unlike JSON.
//!
//! One tag byte, then the content; lengths are 32 bits, little endian; objects are key and value
//! in turn; datetimes are text with their zone.

use std::sync::Arc;

use crate::{Error, Object, Result, Str, Value};

/// Deepest nesting that is read back.
const DEPTH_MAX: usize = 1024;

/// Appends the value.
pub fn encode(value: &Value, out: &mut Vec<u8>) {
    let len = |out: &mut Vec<u8>, n: usize| out.extend_from_slice(&(n as u32).to_le_bytes());
    let bytes = |out: &mut Vec<u8>, tag: u8, b: &[u8]| {
        out.push(tag);
        len(out, b.len());
        out.extend_from_slice(b);
    };
    match value {
        Value::Missing => out.push(0),
        Value::Null => out.push(1),
        Value::Bool(false) => out.push(2),
        Value::Bool(true) => out.push(3),
        Value::Int(i) => {
            out.push(4);
            out.extend_from_slice(&i.to_le_bytes());
        }
        Value::Float(f) => {
            out.push(5);
            out.extend_from_slice(&f.to_bits().to_le_bytes());
        }
        Value::Wide(i) => {
            out.push(6);
            out.extend_from_slice(&i.to_le_bytes());
        }
        Value::Str(s) => bytes(out, 7, s.as_bytes()),
        Value::Bytes(b) => bytes(out, 8, b),
        Value::Array(items) => {
            out.push(9);
            len(out, items.len());
            items.iter().for_each(|item| encode(item, out));
        }
        Value::Object(members) => {
            out.push(10);
            len(out, members.len());
            for (key, item) in members.iter() {
                len(out, key.len());
                out.extend_from_slice(key.as_bytes());
                encode(item, out);
            }
        }
        Value::Time(t) => bytes(out, 11, t.to_string().as_bytes()),
    }
}

/// Reads what [`encode`] wrote. Bytes that are none of it are an error.
pub fn decode(bytes: &[u8]) -> Result<Value> {
    let mut rest = bytes;
    let value = read(&mut rest, 0)?;
    if rest.is_empty() { Ok(value) } else { Err(damaged()) }
}

fn damaged() -> Error {
    Error::new("the saved state is damaged")
}

fn take<'a>(rest: &mut &'a [u8], n: usize) -> Result<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(n).ok_or_else(damaged)?;
    *rest = tail;
    Ok(head)
}

fn eight(rest: &mut &[u8]) -> Result<[u8; 8]> {
    take(rest, 8)?.try_into().map_err(|_| damaged())
}

fn length(rest: &mut &[u8]) -> Result<usize> {
    let four: [u8; 4] = take(rest, 4)?.try_into().map_err(|_| damaged())?;
    Ok(u32::from_le_bytes(four) as usize)
}

fn text<'a>(rest: &mut &'a [u8]) -> Result<&'a str> {
    let n = length(rest)?;
    std::str::from_utf8(take(rest, n)?).map_err(|_| damaged())
}

fn read(rest: &mut &[u8], depth: usize) -> Result<Value> {
    if depth > DEPTH_MAX {
        return Err(damaged());
    }
    Ok(match take(rest, 1)?[0] {
        0 => Value::Missing,
        1 => Value::Null,
        2 => Value::Bool(false),
        3 => Value::Bool(true),
        4 => Value::Int(i64::from_le_bytes(eight(rest)?)),
        5 => Value::Float(f64::from_bits(u64::from_le_bytes(eight(rest)?))),
        6 => Value::Wide(i64::from_le_bytes(eight(rest)?)),
        7 => Value::Str(Str::from(text(rest)?)),
        8 => {
            let n = length(rest)?;
            Value::bytes(take(rest, n)?)
        }
        9 => {
            let n = length(rest)?;
            let mut items = Vec::with_capacity(n.min(rest.len()));
            for _ in 0..n {
                items.push(read(rest, depth + 1)?);
            }
            Value::array(items)
        }
        10 => {
            let mut members = Object::new();
            for _ in 0..length(rest)? {
                let key = Str::from(text(rest)?);
                members.insert(key, read(rest, depth + 1)?);
            }
            Value::object(members)
        }
        11 => Value::Time(Arc::new(text(rest)?.parse().map_err(|_| damaged())?)),
        _ => return Err(damaged()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_comes_back_as_it_was() {
        let time = "2024-01-02T03:04:05.6+02:00[Europe/Berlin]";
        let time = time.parse().or_else(|_| "2024-01-02T02:04:05.6+01:00[Europe/Berlin]".parse());
        let value = Value::array(vec![
            Value::Missing,
            Value::Null,
            Value::Bool(true),
            Value::Int(i64::MIN),
            Value::Float(-0.0),
            Value::Float(f64::NAN),
            Value::Wide(9_007_199_254_740_993),
            Value::str("é"),
            Value::bytes(*b"\0\xff"),
            Value::object(Object::from([("k".into(), Value::array(vec![Value::Int(1)]))])),
            Value::Time(Arc::new(time.unwrap())),
        ]);
        let mut bytes = Vec::new();
        encode(&value, &mut bytes);
        let back = decode(&bytes).unwrap();
        assert_eq!(format!("{back:?}"), format!("{value:?}"));
        for cut in 0..bytes.len() {
            assert!(decode(&bytes[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn odd_bytes_are_refused() {
        assert!(decode(&[12]).is_err());
        assert!(decode(&[9, 255, 255, 255, 255]).is_err());
        let deep: Vec<u8> = [9, 1, 0, 0, 0].repeat(100_000);
        assert!(decode(&deep).is_err());
    }
}
