//! `kuiper show services`: a JSON list, or a line that there are none.

use super::super::shared::lists;
use crate::command::Command;

pub const DEF: Command = Command {
    verb: "show",
    noun: "services",
    takes: "",
    about: "all services",
    flags: &[],
    run: |call| {
        let none = "No service definitions are found.";
        lists::list(call, "/services", none, "Show services error: ")
    },
};
