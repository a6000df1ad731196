//! `kuiper register plugin function NAME JSON`: names the functions that a plugin holds.

use super::super::shared::{FILE, from_file, lists};
use crate::client::part;
use crate::command::{Call, Command};
use crate::fields;
use crate::outcome::{Answered, Failure};

pub const DEF: Command = Command {
    verb: "register",
    noun: "plugin",
    takes: "function NAME JSON",
    about: "name the functions of a function plugin",
    flags: &[FILE],
    run,
};

const ERROR: &str = "Register plugin error: ";

fn run(call: &Call) -> Answered {
    let (Some(kind), Some(name)) = (call.args.word(0), call.args.word(1)) else {
        return Err(Failure::Unmet("Expect plugin type and name.".into()));
    };
    if kind != "function" {
        return Err(Failure::Unmet(format!(
            "Invalid plugin type {kind}, only function plugins have something to register."
        )));
    }
    let text = from_file(call, "plugin")?.unwrap_or_else(|| call.args.words[2..].join(" "));
    if text.is_empty() {
        return Err(Failure::Unmet("Expect plugin type, name and json.".into()));
    }
    fields::object(&text).map_err(|e| e.after(ERROR))?;
    let path = format!("/plugins/functions/{}/register", part(name));
    lists::make(call, &path, &text, ERROR, format!("Plugin {name} is registered."))
}
