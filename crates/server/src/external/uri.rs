//! Paths with fields in them, as `google.api.http` writes them: `/v1/{name=shelves/*}/{a.b}`.

use serde_json::{Map, Value};

/// Puts fields of the message into the path and takes them out of the message.
pub fn fill(path: &str, message: &mut Map<String, Value>) -> Result<String, String> {
    let (mut out, mut rest) = (String::new(), path);
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let (inside, then) =
            after.split_once('}').ok_or_else(|| format!("path {path}: {{ is not closed"))?;
        let (field, pattern) = inside.split_once('=').unwrap_or((inside, ""));
        let text = take(message, field.trim())
            .ok_or_else(|| format!("path {path}: field {field} is not among the arguments"))?;
        // a pattern of several parts keeps its slashes
        out.push_str(&escape(&text, pattern.contains('/') || pattern.contains("**")));
        rest = then;
    }
    out.push_str(rest);
    Ok(out)
}

fn take(message: &mut Map<String, Value>, field: &str) -> Option<String> {
    match field.split_once('.') {
        Some((first, rest)) => take(message.get_mut(first)?.as_object_mut()?, rest),
        None => message.shift_remove(field).as_ref().and_then(plain),
    }
}

/// Everything that is left, as a query string; without the question mark.
pub fn query(message: &Map<String, Value>) -> String {
    let mut parts = Vec::new();
    for (name, value) in message {
        add(name, value, &mut parts);
    }
    parts.join("&")
}

fn add(name: &str, value: &Value, parts: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| add(name, item, parts)),
        Value::Object(members) => {
            members.iter().for_each(|(m, v)| add(&format!("{name}.{m}"), v, parts));
        }
        other => {
            let text = plain(other).map(|t| escape(&t, false));
            parts.extend(text.map(|t| format!("{}={t}", escape(name, false))));
        }
    }
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(s) => Some(s.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

fn escape(text: &str, slashes: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for b in text.bytes() {
        match b {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(b as char);
            }
            b'/' if slashes => out.push('/'),
            _ => out.push_str(&format!("%{b:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_go_into_the_path_and_the_rest_into_the_query() {
        let message = json!({"name": "shelves/a b", "o": {"id": 7, "x": true}, "l": [1, "&"]});
        let mut message = message.as_object().cloned().unwrap();
        let path = fill("/v1/{name=shelves/*}/{o.id}:go", &mut message);
        assert_eq!(path.as_deref(), Ok("/v1/shelves/a%20b/7:go"));
        assert_eq!(query(&message), "o.x=true&l=1&l=%26");
        assert!(fill("/{nope}", &mut message).is_err());
        assert!(fill("/{name", &mut message).is_err());
        let mut slash = json!({"id": "../x"}).as_object().cloned().unwrap();
        assert_eq!(fill("/{id}", &mut slash).as_deref(), Ok("/..%2Fx"));
    }
}
