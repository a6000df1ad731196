//! `kuiper stop rule NAME`.

use super::super::shared::rules;
use crate::command::Command;

pub const DEF: Command = Command {
    verb: "stop",
    noun: "rule",
    takes: "NAME",
    about: "stop a rule",
    flags: &[],
    run: |call| rules::act(call, |name| format!("Rule {name} was stopped.")),
};
