//! What a value is, and making text of it.

use rekuiper_value::Value;

use super::{Function, f, text_value};

pub const FUNCTIONS: &[Function] = &[
    f("toString", 1, 1, |a| text_value(a.text(0))),
    f("kindOf", 1, 1, |a| text_value(kind(&a.any(0)))),
    f("kindIs", 2, 2, |a| Ok(Value::Bool(kind(&a.any(1)) == a.str(0)?))),
    f("typeOf", 1, 1, |a| text_value(go_type(&a.any(0)))),
    f("typeIs", 2, 2, |a| Ok(Value::Bool(go_type(&a.any(1)) == a.str(0)?))),
    f("typeIsLike", 2, 2, |a| {
        let want = a.str(0)?;
        Ok(Value::Bool(go_type(&a.any(1)) == want.trim_start_matches('*')))
    }),
    f("deepEqual", 2, 2, |a| Ok(Value::Bool(a.args[0] == a.args[1]))),
];

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Missing | Value::Null => "invalid",
        Value::Int(_) => "int",
        Value::Array(_) | Value::Bytes(_) => "slice",
        Value::Object(_) => "map",
        Value::Time(_) => "struct",
        other => other.kind_name(),
    }
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Missing | Value::Null => "<nil>",
        Value::Int(_) => "int",
        other => other.kind_name(),
    }
}
