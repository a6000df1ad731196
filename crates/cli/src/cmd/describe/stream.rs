//! `kuiper describe stream NAME`: columns and options.

use super::super::shared::statements;
use crate::args::Flag;
use crate::command::Command;

pub const DEF: Command = Command {
    verb: "describe",
    noun: "stream",
    takes: "NAME",
    about: "columns and options of a stream",
    flags: &[Flag { names: &["json"], value: "", help: "as JSON" }],
    run: statements::describe,
};
