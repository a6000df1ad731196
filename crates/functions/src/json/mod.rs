//! JSON text to values and back, and paths into values.

use rekuiper_value::{Error, Result, Value, json};

use crate::arguments::{at, text, wrong};
use crate::registry::functions;

mod path;

functions! {
    json_path_exists, json_path_query, json_path_query_first, parse_json, to_json,
}

/// What the path (argument 2) finds in the document (argument 1): a value, or a text that holds
/// JSON of an object or array.
fn query(name: &str, args: &[Value]) -> Result<Value> {
    let compiled = path::compiled(text(name, args, 1)?)?;
    let parsed;
    let root = match at(args, 0) {
        document @ (Value::Array(_) | Value::Object(_)) => document,
        Value::Str(s) => {
            parsed = json::parse(s.as_bytes())?;
            match &parsed {
                Value::Array(_) | Value::Object(_) => &parsed,
                _ => {
                    return Err(Error::new(format!(
                        "{name}: the text holds no object or array"
                    )));
                }
            }
        }
        other => return Err(wrong(name, 0, "an object or an array", other)),
    };
    path::find(&compiled, root)
}
