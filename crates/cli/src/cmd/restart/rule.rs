//! `kuiper restart rule NAME`.

use super::super::shared::rules;
use crate::command::Command;

pub const DEF: Command = Command {
    verb: "restart",
    noun: "rule",
    takes: "NAME",
    about: "restart a rule",
    flags: &[],
    run: |call| rules::act(call, |name| format!("Rule {name} was restarted.")),
};
