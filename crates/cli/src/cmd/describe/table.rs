//! `kuiper describe table NAME`: columns and options.

use super::super::shared::statements;
use crate::args::Flag;
use crate::command::Command;

pub const DEF: Command = Command {
    verb: "describe",
    noun: "table",
    takes: "NAME",
    about: "columns and options of a table",
    flags: &[Flag { names: &["json"], value: "", help: "as JSON" }],
    run: statements::describe,
};
