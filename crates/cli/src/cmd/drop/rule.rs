//! `kuiper drop rule NAME`.

use super::super::shared::{lists, rules};
use crate::command::{Call, Command};
use crate::outcome::Answered;

pub const DEF: Command = Command {
    verb: "drop",
    noun: "rule",
    takes: "NAME",
    about: "stop and remove a rule",
    flags: &[],
    run,
};

fn run(call: &Call) -> Answered {
    let name = call.only("rule name")?;
    let done = format!("Rule {name} is dropped.");
    lists::remove(call, &rules::path(name), "Drop rule error : ", done)
}
