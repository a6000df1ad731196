//! `kuiper drop stream NAME`.

use super::super::shared::statements;
use crate::command::Command;

pub const DEF: Command = Command {
    verb: "drop",
    noun: "stream",
    takes: "NAME",
    about: "remove a stream",
    flags: &[],
    run: statements::drop,
};
