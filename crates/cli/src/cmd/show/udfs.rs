//! `kuiper show udfs`: a JSON list, or a line that there are none.

use super::super::shared::lists;
use crate::command::Command;

pub const DEF: Command = Command {
    verb: "show",
    noun: "udfs",
    takes: "",
    about: "all udfs",
    flags: &[],
    run: |call| {
        let none = "No udf is found.";
        lists::list(call, "/plugins/udfs", none, "Show udfs error: ")
    },
};
