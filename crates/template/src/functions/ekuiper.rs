//! eKuiper's own: json, base64, prop.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rekuiper_value::{Result, Value, json};

use super::{Args, Function, f, text_value, to_text};

pub const FUNCTIONS: &[Function] = &[
    f("json", 1, 1, |a| text_value(json::to_string(&a.any(0))?)),
    f("toJson", 1, 1, |a| text_value(json::to_string(&a.any(0)).unwrap_or_default())),
    f("base64", 1, 1, base64),
    f("prop", 1, 1, |a| {
        let key = a.str(0)?;
        text_value(a.env.props.and_then(|props| props(key)).unwrap_or_else(|| key.to_owned()))
    }),
];

/// Of the text of plain values, of the JSON of lists and objects.
fn base64(a: &mut Args<'_, '_>) -> Result<Value> {
    let value = a.any(0);
    let text = match &value {
        Value::Missing | Value::Null => {
            return Err(a.error("unsupported type nil: base64 wants text, a number or an object"));
        }
        Value::Array(_) | Value::Object(_) => json::to_string(&value)?,
        Value::Bytes(bytes) => return text_value(STANDARD.encode(bytes)),
        other => to_text(other),
    };
    text_value(STANDARD.encode(text))
}
