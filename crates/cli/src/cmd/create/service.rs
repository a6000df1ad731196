//! `kuiper create service NAME JSON`, or `NAME -f FILE`.

use super::super::shared::{FILE, from_file, lists};
use crate::command::{Call, Command};
use crate::fields;
use crate::outcome::{Answered, Failure};

pub const DEF: Command = Command {
    verb: "create",
    noun: "service",
    takes: "NAME JSON",
    about: "make known an external service",
    flags: &[FILE],
    run,
};

fn run(call: &Call) -> Answered {
    let missing = || Failure::Unmet("Expect service name and json.".into());
    let name = call.args.word(0).ok_or_else(missing)?;
    let text = from_file(call, "service")?.unwrap_or_else(|| call.args.words[1..].join(" "));
    if text.is_empty() {
        return Err(missing());
    }
    let parse = format!("Parse service {name} error : ");
    let body = fields::named(&text, "name", name).map_err(|e| e.after(&parse))?;
    let error = "Create service error: ";
    lists::make(call, "/services", &body, error, format!("Service {name} is created."))
}
