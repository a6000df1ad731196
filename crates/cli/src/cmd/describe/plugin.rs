//! `kuiper describe plugin TYPE NAME`: its JSON.

use super::super::shared::{lists, plugins};
use crate::client::part;
use crate::command::{Call, Command};
use crate::outcome::Answered;

pub const DEF: Command = Command {
    verb: "describe",
    noun: "plugin",
    takes: "TYPE NAME",
    about: "tell about a plugin",
    flags: &[],
    run,
};

fn run(call: &Call) -> Answered {
    if let Some(kind) = call.args.word(0) {
        plugins::path(kind)?;
    }
    let (kind, name) = call.pair("plugin name")?;
    let path = format!("{}/{}", plugins::path(kind)?, part(name));
    lists::document(call, &path, "Describe plugin error: ")
}
