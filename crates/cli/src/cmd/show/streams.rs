//! `kuiper show streams`: one name a line.

use super::super::shared::statements;
use crate::command::Command;

pub const DEF: Command = Command {
    verb: "show",
    noun: "streams",
    takes: "",
    about: "names of all streams",
    flags: &[],
    run: statements::show,
};
