//! Text of values as Go's `%v` prints them: what concat, upper, hashes and group keys see.

use crate::{Value, number};

/// Appends the rendering: integers plain, doubles as `%v` (`1e+06`), arrays `[1 b]`, objects
/// `map[k:1]`, null `<nil>`, bytes as their numbers, datetimes as Go prints them.
pub fn render_into(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Missing | Value::Null => out.extend_from_slice(b"<nil>"),
        Value::Bool(b) => out.extend_from_slice(if *b { b"true" } else { b"false" }),
        Value::Int(i) => number::write_i64(out, *i),
        Value::Wide(i) => number::write_go_f64(out, *i as f64),
        Value::Float(f) => number::write_go_f64(out, *f),
        Value::Str(s) => out.extend_from_slice(s.as_bytes()),
        Value::Bytes(bytes) => {
            out.push(b'[');
            for (at, b) in bytes.iter().enumerate() {
                if at > 0 {
                    out.push(b' ');
                }
                number::write_i64(out, i64::from(*b));
            }
            out.push(b']');
        }
        Value::Array(items) => {
            out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(b' ');
                }
                render_into(out, item);
            }
            out.push(b']');
        }
        Value::Object(members) => {
            out.extend_from_slice(b"map[");
            for (at, (key, item)) in members.iter().enumerate() {
                if at > 0 {
                    out.push(b' ');
                }
                out.extend_from_slice(key.as_bytes());
                out.push(b':');
                render_into(out, item);
            }
            out.push(b']');
        }
        Value::Time(t) => out.extend_from_slice(crate::time::go_text(t).as_bytes()),
    }
}

/// The rendering as a string. Text values are returned as they are.
pub fn render(value: &Value) -> crate::Str {
    if let Value::Str(s) = value {
        return s.clone();
    }
    let mut out = Vec::new();
    render_into(&mut out, value);
    String::from_utf8_lossy(&out).as_ref().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_go_prints() {
        let v = crate::json::parse(br#"{"k":[1,"b",null,1000000],"a":{"x":true}}"#).unwrap();
        assert_eq!(render(&v), "map[a:map[x:true] k:[1 b <nil> 1e+06]]");
        assert_eq!(render(&Value::Int(1000000)), "1000000");
        assert_eq!(render(&Value::bytes(*b"!!")), "[33 33]");
    }
}
