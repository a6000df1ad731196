//! `kuiper getstatus rule NAME`: state and counters of a rule.

use super::super::shared::rules;
use crate::command::Command;

pub const DEF: Command = Command {
    verb: "getstatus",
    noun: "rule",
    takes: "NAME",
    about: "state and counters of a rule",
    flags: &[],
    run: |call| rules::document(call, "status"),
};
