//! `kuiper show scripts`: a JSON list, or a line that there are none.

use super::super::shared::lists;
use crate::command::Command;

pub const DEF: Command = Command {
    verb: "show",
    noun: "scripts",
    takes: "",
    about: "all scripts",
    flags: &[],
    run: |call| {
        let none = "No script definitions are found.";
        lists::list(call, "/udf/javascript", none, "Show scripts error: ")
    },
};
