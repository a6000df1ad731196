//! `kuiper show tables`: one name a line.

use super::super::shared::statements;
use crate::command::Command;

pub const DEF: Command = Command {
    verb: "show",
    noun: "tables",
    takes: "",
    about: "names of all tables",
    flags: &[],
    run: statements::show,
};
