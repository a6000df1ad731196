//! `kuiper create rule NAME JSON`, or `NAME -f FILE`. The JSON needs no id.

use super::super::shared::{FILE, lists, rules};
use crate::command::{Call, Command};
use crate::fields;
use crate::outcome::Answered;

pub const DEF: Command = Command {
    verb: "create",
    noun: "rule",
    takes: "NAME JSON",
    about: "make a rule and run it",
    flags: &[FILE],
    run,
};

fn run(call: &Call) -> Answered {
    let (name, text) = rules::definition(call)?;
    // a text that is no JSON belongs to no rule yet: the name stays empty, as it always did
    fields::object(&text).map_err(|e| e.after("Create rule  error : "))?;
    let error = format!("Create rule {name} error : ");
    let body = rules::with_id(&name, &text).map_err(|e| e.after(&error))?;
    let done = format!(
        "Rule {name} was created successfully, please use 'bin/kuiper getstatus rule {name}' \
         command to get rule status."
    );
    lists::make(call, "/rules", &body, &error, done)
}
