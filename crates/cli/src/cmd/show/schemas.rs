//! `kuiper show schemas TYPE`: a JSON list, or a line that there are none.

use super::super::shared::lists;
use crate::client::part;
use crate::command::{Call, Command};
use crate::outcome::Answered;

pub const DEF: Command = Command {
    verb: "show",
    noun: "schemas",
    takes: "TYPE",
    about: "names of all schemas of a type",
    flags: &[],
    run,
};

fn run(call: &Call) -> Answered {
    let kind = call.only("schema type")?;
    let none = "No schema definitions are found.";
    lists::list(call, &format!("/schemas/{}", part(kind)), none, "Show schemas error: ")
}
