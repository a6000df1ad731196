//! `kuiper create stream NAME (...) WITH (...)`, or `-f FILE` that holds what stands after
//! the words.

use super::super::shared::{FILE, statements};
use crate::command::Command;

pub const DEF: Command = Command {
    verb: "create",
    noun: "stream",
    takes: "NAME (...) WITH (...)",
    about: "make a stream",
    flags: &[FILE],
    run: statements::create,
};
