//! `kuiper gettopo rule NAME`: nodes of a rule and how they are joined.

use super::super::shared::rules;
use crate::command::Command;

pub const DEF: Command = Command {
    verb: "gettopo",
    noun: "rule",
    takes: "NAME",
    about: "nodes of a rule and how they are joined",
    flags: &[],
    run: |call| rules::document(call, "topo"),
};
