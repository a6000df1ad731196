//! `kuiper drop table NAME`.

use super::super::shared::statements;
use crate::command::Command;

pub const DEF: Command = Command {
    verb: "drop",
    noun: "table",
    takes: "NAME",
    about: "remove a table",
    flags: &[],
    run: statements::drop,
};
