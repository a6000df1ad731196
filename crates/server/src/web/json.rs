//! Lenient reading of request bodies, as Go reads them: keys match whatever their case, unknown
//! ones are ignored, null is as good as absent, text after the first value is ignored.

use serde_json::{Map, Value};

use crate::error::{ApiError, ApiResult};

/// The value that `data` begins with.
pub fn value(data: &[u8]) -> ApiResult<Value> {
    let mut values = serde_json::Deserializer::from_slice(data).into_iter::<Value>();
    match values.next() {
        Some(Ok(v)) => Ok(v),
        Some(Err(e)) => Err(ApiError::bad(format!(
            "the request body is not valid JSON: {e}"
        ))),
        None => Err(ApiError::bad("the request has no body, expected JSON")),
    }
}

/// The object that `data` begins with.
pub fn object(data: &[u8]) -> ApiResult<Map<String, Value>> {
    match value(data)? {
        Value::Object(o) => Ok(o),
        other => Err(wrong("the request body", "an object", &other)),
    }
}

/// All of `data` must be one value.
pub fn strict(data: &[u8]) -> ApiResult<Value> {
    serde_json::from_slice(data)
        .map_err(|e| ApiError::bad(format!("the request body is not valid JSON: {e}")))
}

/// The member `key`; null counts as absent.
pub fn member<'a>(o: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    let exact = o.get(key);
    let found = exact.or_else(|| {
        o.iter()
            .find(|(k, _)| k.eq_ignore_ascii_case(key))
            .map(|(_, v)| v)
    });
    found.filter(|v| !v.is_null())
}

pub fn text<'a>(o: &'a Map<String, Value>, key: &str) -> ApiResult<Option<&'a str>> {
    match member(o, key) {
        None => Ok(None),
        Some(Value::String(s)) => Ok(Some(s)),
        Some(other) => Err(wrong(key, "text", other)),
    }
}

pub fn boolean(o: &Map<String, Value>, key: &str) -> ApiResult<Option<bool>> {
    match member(o, key) {
        None => Ok(None),
        Some(Value::Bool(b)) => Ok(Some(*b)),
        Some(other) => Err(wrong(key, "true or false", other)),
    }
}

pub fn int(o: &Map<String, Value>, key: &str) -> ApiResult<Option<i64>> {
    match member(o, key) {
        None => Ok(None),
        Some(v) => whole(v)
            .map(Some)
            .ok_or_else(|| wrong(key, "a whole number", v)),
    }
}

pub fn nested<'a>(
    o: &'a Map<String, Value>,
    key: &str,
) -> ApiResult<Option<&'a Map<String, Value>>> {
    match member(o, key) {
        None => Ok(None),
        Some(Value::Object(o)) => Ok(Some(o)),
        Some(other) => Err(wrong(key, "an object", other)),
    }
}

pub fn texts(o: &Map<String, Value>, key: &str) -> ApiResult<Option<Vec<String>>> {
    let list = match member(o, key) {
        None => return Ok(None),
        Some(Value::Array(list)) => list,
        Some(other) => return Err(wrong(key, "a list of text", other)),
    };
    let one = |v: &Value| match v {
        Value::String(s) => Ok(s.clone()),
        other => Err(wrong(key, "a list of text", other)),
    };
    list.iter().map(one).collect::<ApiResult<_>>().map(Some)
}

/// A whole number, also where it is written as a float.
pub fn whole(v: &Value) -> Option<i64> {
    v.as_i64().or_else(|| {
        v.as_f64()
            .filter(|f| f.fract() == 0.0 && f.abs() < 9e15)
            .map(|f| f as i64)
    })
}

pub fn wrong(what: &str, expected: &str, got: &Value) -> ApiError {
    let kind = match got {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    ApiError::bad(format!("{what} must be {expected}, but is {kind}"))
}

/// The same value with the keys of every object in order.
pub fn sorted(v: &Value) -> Value {
    match v {
        Value::Object(o) => {
            let mut keys: Vec<&String> = o.keys().collect();
            keys.sort();
            keys.into_iter()
                .map(|k| (k.clone(), sorted(&o[k])))
                .collect::<Map<_, _>>()
                .into()
        }
        Value::Array(a) => a.iter().map(sorted).collect::<Vec<_>>().into(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_the_object_is_ignored() {
        assert_eq!(object(br#"{"a":1} rest"#).unwrap()["a"], 1);
        assert!(object(b"[]").is_err());
        assert!(object(b"").is_err());
    }

    #[test]
    fn keys_match_whatever_their_case() {
        let o = object(br#"{"SQL":"x","n":null}"#).unwrap();
        assert_eq!(text(&o, "sql").unwrap(), Some("x"));
        assert_eq!(text(&o, "n").unwrap(), None);
    }

    #[test]
    fn deep_nesting_is_an_error_not_a_crash() {
        assert!(value("[".repeat(100_000).as_bytes()).is_err());
    }
}
