//! `kuiper drop plugin -s true|false TYPE NAME`; with `-s true` the server stops afterwards.

use super::super::shared::{lists, plugins};
use crate::args::Flag;
use crate::client::part;
use crate::command::{Call, Command};
use crate::outcome::Answered;

pub const DEF: Command = Command {
    verb: "drop",
    noun: "plugin",
    takes: "TYPE NAME",
    about: "remove a plugin",
    flags: &[Flag {
        names: &["s", "stop"],
        value: "true|false",
        help: "stop the server afterwards; must be given",
    }],
    run,
};

fn run(call: &Call) -> Answered {
    let stop = lists::boolean(call, "s")?;
    let (kind, name) = call.pair("plugin type and name")?;
    let tail = if stop { "?stop=1" } else { "" };
    let path = format!("{}/{}{tail}", plugins::path(kind)?, part(name));
    let done = if stop {
        format!("Plugin {name} is dropped and the server will be stopped.")
    } else {
        format!("Plugin {name} is dropped.")
    };
    lists::remove(call, &path, "Drop plugin error: ", done)
}
