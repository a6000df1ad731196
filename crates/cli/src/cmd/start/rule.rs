//! `kuiper start rule NAME`. (No full stop: scripts compare the line.)

use super::super::shared::rules;
use crate::command::Command;

pub const DEF: Command = Command {
    verb: "start",
    noun: "rule",
    takes: "NAME",
    about: "start a rule",
    flags: &[],
    run: |call| rules::act(call, |name| format!("Rule {name} was started")),
};
