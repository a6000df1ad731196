//! `kuiper show rules`: a JSON list, or a line that there are none.

use super::super::shared::lists;
use crate::command::Command;

pub const DEF: Command = Command {
    verb: "show",
    noun: "rules",
    takes: "",
    about: "all rules",
    flags: &[],
    run: |call| {
        let none = "No rule definitions are found.";
        lists::list(call, "/rules", none, "Show rules error: ")
    },
};
