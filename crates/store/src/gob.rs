//! Reads the Go `gob` encoding, as far as eKuiper's store uses it: strings, numbers, booleans,
//! bytes, and maps and lists of any value, nested.
//!
//! A stream is a run of messages, each led by its length. A message either defines a type (its id
//! is negative) or holds a value of a type. Numbers are big endian of minimal length; signed ones
//! are zigzag-like with the sign in the lowest bit; floats have their bytes turned round.

use std::collections::HashMap;

use serde_json::{Map, Number, Value};

/// Values nested deeper than this are refused.
const DEPTH: usize = 64;

const BOOL: i64 = 1;
const INT: i64 = 2;
const UINT: i64 = 3;
const FLOAT: i64 = 4;
const BYTES: i64 = 5;
const STRING: i64 = 6;
const INTERFACE: i64 = 8;

#[derive(Clone)]
enum Kind {
    List(i64),
    Map(i64, i64),
    Struct(Vec<(String, i64)>),
}

struct Reader<'a> {
    data: &'a [u8],
    types: HashMap<i64, Kind>,
}

type Read<T> = Result<T, String>;

/// The one value in `data`.
pub fn decode(data: &[u8]) -> Result<Value, String> {
    let mut r = Reader {
        data,
        types: HashMap::new(),
    };
    loop {
        let length = r.uint()?;
        let message = r.take(length)?;
        let rest = std::mem::replace(&mut r.data, message);
        let id = r.int()?;
        if id < 0 {
            r.define(-id)?;
            r.data = rest;
            continue;
        }
        return r.top(id);
    }
}

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Read<u8> {
        let (first, rest) = self.data.split_first().ok_or("the value ends too early")?;
        self.data = rest;
        Ok(*first)
    }

    fn take(&mut self, n: u64) -> Read<&'a [u8]> {
        let n = usize::try_from(n).map_err(|_| "a length is out of range")?;
        if n > self.data.len() {
            return Err("a length goes beyond the value".into());
        }
        let (head, tail) = self.data.split_at(n);
        self.data = tail;
        Ok(head)
    }

    fn uint(&mut self) -> Read<u64> {
        let first = self.byte()?;
        if first < 0x80 {
            return Ok(u64::from(first));
        }
        // The negated count of the bytes that follow.
        let n = usize::from(first.wrapping_neg());
        if n > 8 {
            return Err("a number has more than eight bytes".into());
        }
        let mut v = 0u64;
        for _ in 0..n {
            v = v << 8 | u64::from(self.byte()?);
        }
        Ok(v)
    }

    fn int(&mut self) -> Read<i64> {
        let u = self.uint()?;
        let half = (u >> 1) as i64;
        Ok(if u & 1 == 1 { !half } else { half })
    }

    fn text(&mut self) -> Read<String> {
        let n = self.uint()?;
        Ok(String::from_utf8_lossy(self.take(n)?).into_owned())
    }

    /// A value at the top of a message: what is not a struct has a zero before it.
    fn top(&mut self, id: i64) -> Read<Value> {
        self.plain_or_struct(id, 0)
    }

    fn plain_or_struct(&mut self, id: i64, depth: usize) -> Read<Value> {
        if !matches!(self.types.get(&id), Some(Kind::Struct(_))) && self.uint()? != 0 {
            return Err("a plain value does not begin with zero".into());
        }
        self.value(id, depth)
    }

    fn value(&mut self, id: i64, depth: usize) -> Read<Value> {
        if depth > DEPTH {
            return Err(format!("values are nested deeper than {DEPTH}"));
        }
        match id {
            BOOL => Ok(Value::Bool(self.uint()? != 0)),
            INT => Ok(self.int()?.into()),
            UINT => Ok(self.uint()?.into()),
            FLOAT => Ok(float(f64::from_bits(self.uint()?.swap_bytes()))),
            BYTES | STRING => self.text().map(Value::String),
            INTERFACE => self.interface(depth),
            _ => match self.types.get(&id).cloned() {
                Some(Kind::List(elem)) => self.list(elem, depth),
                Some(Kind::Map(key, elem)) => self.map(key, elem, depth),
                Some(Kind::Struct(fields)) => self.structure(&fields, depth),
                None => Err(format!("type {id} is not known")),
            },
        }
    }

    fn count(&mut self) -> Read<u64> {
        let n = self.uint()?;
        // Every element takes a byte at least.
        if n > self.data.len() as u64 {
            return Err("a count goes beyond the value".into());
        }
        Ok(n)
    }

    fn list(&mut self, elem: i64, depth: usize) -> Read<Value> {
        let n = self.count()?;
        (0..n)
            .map(|_| self.value(elem, depth + 1))
            .collect::<Read<Vec<_>>>()
            .map(Value::Array)
    }

    fn map(&mut self, key: i64, elem: i64, depth: usize) -> Read<Value> {
        let mut out = Map::new();
        for _ in 0..self.count()? {
            let k = match self.value(key, depth + 1)? {
                Value::String(s) => s,
                other => other.to_string(),
            };
            out.insert(k, self.value(elem, depth + 1)?);
        }
        Ok(Value::Object(out))
    }

    fn structure(&mut self, fields: &[(String, i64)], depth: usize) -> Read<Value> {
        let mut out = Map::new();
        let mut at = 0usize;
        loop {
            let delta = self.uint()? as usize;
            if delta == 0 {
                return Ok(Value::Object(out));
            }
            at = at.saturating_add(delta);
            let (name, id) = fields
                .get(at - 1)
                .ok_or("a field number is out of range")?
                .clone();
            let v = self.value(id, depth + 1)?;
            out.insert(name, v);
        }
    }

    /// The name of the concrete type, its id, the length of the value, the value. Definitions of
    /// types may stand before the id or before the length.
    fn interface(&mut self, depth: usize) -> Read<Value> {
        let name = self.text()?;
        if name.is_empty() {
            return Ok(Value::Null);
        }
        let mut id = self.int()?;
        while id < 0 {
            self.define(-id)?;
            self.uint()?;
            id = self.int()?;
        }
        loop {
            let n = self.uint()?;
            let body = self.take(n)?;
            let rest = std::mem::replace(&mut self.data, body);
            let before = self.data;
            let lead = self.int()?;
            if lead < 0 {
                self.define(-lead)?;
                self.data = rest;
                continue;
            }
            self.data = before;
            let v = self.plain_or_struct(id, depth + 1)?;
            self.data = rest;
            return Ok(v);
        }
    }

    /// A type definition: one of array, slice, struct, map, each with its common part first.
    fn define(&mut self, id: i64) -> Read<()> {
        let mut at = 0;
        loop {
            let delta = self.uint()?;
            if delta == 0 {
                return Ok(());
            }
            at += delta;
            let kind = match at {
                1 | 2 => Kind::List(self.numbers_after_common()?.0),
                3 => Kind::Struct(self.fields_after_common()?),
                4 => {
                    let (key, elem) = self.numbers_after_common()?;
                    Kind::Map(key, elem)
                }
                _ => return Err("a type of this kind is not supported".into()),
            };
            self.types.insert(id, kind);
        }
    }

    fn common(&mut self) -> Read<()> {
        let mut at = 0;
        loop {
            let delta = self.uint()?;
            if delta == 0 {
                return Ok(());
            }
            at += delta;
            match at {
                1 => drop(self.text()?),
                2 => drop(self.int()?),
                _ => return Err("a type has an unknown part".into()),
            }
        }
    }

    /// The second and third field: element, or key and element, or element and length.
    fn numbers_after_common(&mut self) -> Read<(i64, i64)> {
        let (mut at, mut first, mut second) = (0, 0, 0);
        loop {
            let delta = self.uint()?;
            if delta == 0 {
                return Ok((first, second));
            }
            at += delta;
            match at {
                1 => self.common()?,
                2 => first = self.int()?,
                3 => second = self.int()?,
                _ => return Err("a type has an unknown part".into()),
            }
        }
    }

    fn fields_after_common(&mut self) -> Read<Vec<(String, i64)>> {
        let (mut at, mut out) = (0, Vec::new());
        loop {
            let delta = self.uint()?;
            if delta == 0 {
                return Ok(out);
            }
            at += delta;
            match at {
                1 => self.common()?,
                2 => {
                    for _ in 0..self.count()? {
                        out.push(self.field()?);
                    }
                }
                _ => return Err("a type has an unknown part".into()),
            }
        }
    }

    fn field(&mut self) -> Read<(String, i64)> {
        let (mut at, mut name, mut id) = (0, String::new(), 0);
        loop {
            let delta = self.uint()?;
            if delta == 0 {
                return Ok((name, id));
            }
            at += delta;
            match at {
                1 => name = self.text()?,
                2 => id = self.int()?,
                _ => return Err("a field has an unknown part".into()),
            }
        }
    }
}

/// Whole numbers come back as such: the store of eKuiper holds every JSON number as a float.
fn float(f: f64) -> Value {
    if f.fract() == 0.0 && f.abs() < 9.0e15 {
        return Value::from(f as i64);
    }
    Number::from_f64(f).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_string() {
        let data = [8, 12, 0, 5, b'h', b'e', b'l', b'l', b'o'];
        assert_eq!(decode(&data), Ok(json!("hello")));
    }

    #[test]
    fn a_map_of_any_values() {
        let mut data = vec![0x0d, 0x7f, 4, 1, 2, 0xff, 0x80, 0, 1, 0x0c, 1, 0x10, 0, 0];
        let body = b"\xff\x80\x00\x02\x03qos\x07float64\x08\x04\x00\xfe\xf0?\
            \x01u\x06string\x0c\x03\x00\x01r";
        data.push(body.len() as u8);
        data.extend_from_slice(body);
        assert_eq!(decode(&data), Ok(json!({"qos": 1, "u": "r"})));
    }

    #[test]
    fn whole_numbers_and_signs() {
        assert_eq!(decode(&[3, 4, 0, 0x53]), Ok(json!(-42)));
        assert_eq!(decode(&[3, 2, 0, 1]), Ok(json!(true)));
    }

    #[test]
    fn a_length_beyond_the_end_is_an_error() {
        assert!(decode(&[200, 12]).is_err());
        assert!(decode(&[]).is_err());
    }

    proptest! {
        #[test]
        fn never_panics(data in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&data);
        }
    }
}
