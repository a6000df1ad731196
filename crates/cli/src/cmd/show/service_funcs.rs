//! `kuiper show service_funcs`: a JSON list, or a line that there are none.

use super::super::shared::lists;
use crate::command::Command;

pub const DEF: Command = Command {
    verb: "show",
    noun: "service_funcs",
    takes: "",
    about: "all service funcs",
    flags: &[],
    run: |call| {
        let none = "No service definitions are found.";
        lists::list(call, "/services/functions", none, "Show service_funcs error: ")
    },
};
