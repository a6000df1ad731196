//! `kuiper create plugin TYPE NAME JSON`, `-f FILE`, or `-zf ZIP` for a zip file at hand.

use serde_json::json;

use super::super::shared::{FILE, from_file, lists, plugins};
use crate::args::Flag;
use crate::command::{Call, Command};
use crate::outcome::{Answered, Failure};
use crate::{fields, files};

pub const DEF: Command = Command {
    verb: "create",
    noun: "plugin",
    takes: "TYPE NAME JSON",
    about: "install a plugin: source, sink, function, portable or wasm",
    flags: &[FILE, Flag { names: &["zipfile", "zf"], value: "ZIP", help: "install this zip file" }],
    run,
};

const ERROR: &str = "Create plugin error: ";

fn run(call: &Call) -> Answered {
    let (Some(kind), Some(name)) = (call.args.word(0), call.args.word(1)) else {
        return Err(Failure::Unmet("Expect plugin type and name.".into()));
    };
    let path = plugins::path(kind)?;
    let zip = call.args.flag("zipfile");
    if zip.is_some() && call.args.flag("file").is_some() {
        return Err(Failure::Unmet("Flag f and flag zf exclude each other, give one.".into()));
    }
    let body = match zip {
        Some(zip) if !std::path::Path::new(zip).is_file() => {
            return Err(Failure::Unmet(format!(
                "The specified zip file {zip} could not be found."
            )));
        }
        Some(zip) => json!({"name": name, "file": files::url(zip)?}).to_string(),
        None => {
            let text = from_file(call, "plugin")?.unwrap_or_else(|| call.args.words[2..].join(" "));
            if text.is_empty() {
                return Err(Failure::Unmet("Expect plugin type, name and json.".into()));
            }
            fields::named(&text, "name", name).map_err(|e| e.after(ERROR))?
        }
    };
    lists::make(call, &path, &body, ERROR, format!("Plugin {name} is created."))
}
