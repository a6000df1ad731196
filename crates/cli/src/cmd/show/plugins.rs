//! `kuiper show plugins TYPE`: a JSON list. The one of portable plugins is shown empty as `[]`.

use super::super::shared::{lists, plugins};
use crate::command::{Call, Command};
use crate::outcome::Answered;

pub const DEF: Command = Command {
    verb: "show",
    noun: "plugins",
    takes: "TYPE",
    about: "all plugins of a type",
    flags: &[],
    run,
};

fn run(call: &Call) -> Answered {
    let kind = call.only("plugin type")?;
    let none = if kind == "portable" { "[]" } else { "No plugin is found." };
    lists::list(call, &plugins::path(kind)?, none, "Show plugins error: ")
}
