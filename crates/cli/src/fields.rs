//! JSON that users type: checked here, sent as typed. Only a missing name is put in, at the front
//! of the text, so that numbers, key order and blanks arrive as they were.

use serde_json::{Map, Value};

use crate::outcome::Failure;

/// The object in the text, or what is wrong with it.
pub fn object(text: &str) -> Result<Map<String, Value>, Failure> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Failure::Refused("a JSON object is expected".into())),
        Err(e) => Err(Failure::Refused(format!("invalid JSON: {e}"))),
    }
}

/// The text with `key` set to `name`; a different value there is refused.
pub fn named(text: &str, key: &str, name: &str) -> Result<String, Failure> {
    let object = object(text)?;
    match object.get(key) {
        Some(Value::String(given)) if given == name => Ok(text.to_string()),
        Some(Value::String(given)) if !given.is_empty() => Err(Failure::Refused(format!(
            "the JSON says {key} {given}, the command says {name}: they must be the same"
        ))),
        Some(Value::String(_)) | None if object.len() == usize::from(object.contains_key(key)) => {
            Ok(Value::from_iter([(key, name)]).to_string())
        }
        None => {
            let body = text.trim_start().strip_prefix('{').unwrap_or_default();
            Ok(format!("{{{}:{},{body}", Value::from(key), Value::from(name)))
        }
        Some(Value::String(_)) => {
            let mut object = object;
            object.insert(key.into(), name.into());
            Ok(Value::Object(object).to_string())
        }
        Some(other) => Err(Failure::Refused(format!("{key}: {other} is no text"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_name_is_put_in_and_the_rest_stays_as_typed() {
        let sent = named(r#" { "n": 1.50, "sql":"x" }"#, "id", "r1").unwrap();
        assert_eq!(sent, r#"{"id":"r1", "n": 1.50, "sql":"x" }"#);
        assert_eq!(named("{}", "id", "r1").unwrap(), r#"{"id":"r1"}"#);
        assert_eq!(named(r#"{"id":""}"#, "id", "r1").unwrap(), r#"{"id":"r1"}"#);
        assert_eq!(named(r#"{"id":"","a":1}"#, "id", "r1").unwrap(), r#"{"id":"r1","a":1}"#);
        assert_eq!(named(r#"{"id":"r1"}"#, "id", "r1").unwrap(), r#"{"id":"r1"}"#);
    }

    #[test]
    fn another_name_and_bad_json_are_refused() {
        assert!(named(r#"{"id":"r2"}"#, "id", "r1").is_err());
        assert!(named(r#"{"id":7}"#, "id", "r1").is_err());
        assert!(named("{oops", "id", "r1").is_err());
        assert!(named("[1]", "id", "r1").is_err());
    }
}
