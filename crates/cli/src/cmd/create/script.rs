//! `kuiper create script JSON`, or `-f FILE`: a JavaScript function, `{"id", "script", ...}`.

use super::super::shared::{FILE, from_file, lists};
use crate::command::{Call, Command};
use crate::fields;
use crate::outcome::{Answered, Failure};

pub const DEF: Command = Command {
    verb: "create",
    noun: "script",
    takes: "JSON",
    about: "make a JavaScript function",
    flags: &[FILE],
    run,
};

const ERROR: &str = "Create script error: ";

fn run(call: &Call) -> Answered {
    let text = from_file(call, "script")?.unwrap_or_else(|| call.args.words.join(" "));
    if text.is_empty() {
        return Err(Failure::Unmet("Expect script json.".into()));
    }
    let object = fields::object(&text).map_err(|e| e.after(ERROR))?;
    let id = object.get("id").and_then(|v| v.as_str()).unwrap_or_default();
    lists::make(call, "/udf/javascript", &text, ERROR, format!("Script {id} is created."))
}
