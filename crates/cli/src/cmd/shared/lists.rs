//! Lists and single documents of the registries.

use serde_json::Value;

use crate::command::Call;
use crate::outcome::{Answer, Answered, Failure};

/// The list at the path; `none` is the line for people when it is empty.
pub fn list(call: &Call, path: &str, none: &str, error: &str) -> Answered {
    let data = call.client.get(path)?.json().map_err(|e| e.after(error))?;
    let empty = match &data {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    Ok(match data {
        Value::Null => Answer::Both(none.into(), Value::Array(Vec::new())),
        data if empty => Answer::Both(none.into(), data),
        data => Answer::Data(data),
    })
}

pub fn document(call: &Call, path: &str, error: &str) -> Answered {
    let data = call.client.get(path)?.json().map_err(|e| e.after(error))?;
    Ok(Answer::Data(data))
}

/// Removes what is at the path and says so.
pub fn remove(call: &Call, path: &str, error: &str, done: String) -> Answered {
    call.client.delete(path)?.text().map_err(|e| e.after(error))?;
    Ok(done.into())
}

/// Makes what the body says and says so.
pub fn make(call: &Call, path: &str, body: &str, error: &str, done: String) -> Answered {
    call.client.post(path, body)?.text().map_err(|e| e.after(error))?;
    Ok(done.into())
}

/// A flag that must be given as true or false.
pub fn boolean(call: &Call, flag: &str) -> Result<bool, Failure> {
    match call.args.flag(flag) {
        Some("true" | "1" | "t" | "T" | "TRUE" | "True") => Ok(true),
        Some("false" | "0" | "f" | "F" | "FALSE" | "False") => Ok(false),
        _ => Err(Failure::Unmet(format!("Expect {flag} flag to be a boolean value."))),
    }
}
