//! `kuiper create schema TYPE NAME JSON`, or `TYPE NAME -f FILE`.

use super::super::shared::{FILE, from_file, lists};
use crate::client::part;
use crate::command::{Call, Command};
use crate::fields;
use crate::outcome::{Answered, Failure};

pub const DEF: Command = Command {
    verb: "create",
    noun: "schema",
    takes: "TYPE NAME JSON",
    about: "keep a schema",
    flags: &[FILE],
    run,
};

const ERROR: &str = "Create schema error: ";

fn run(call: &Call) -> Answered {
    // the word "plugin" stands in this line of eKuiper's tool too, and is compared
    let missing = || Failure::Unmet("Expect plugin type, name and json.".into());
    let (Some(kind), Some(name)) = (call.args.word(0), call.args.word(1)) else {
        return Err(missing());
    };
    let text = from_file(call, "schema")?.unwrap_or_else(|| call.args.words[2..].join(" "));
    if text.is_empty() {
        return Err(missing());
    }
    let body = fields::named(&text, "name", name).map_err(|e| e.after(ERROR))?;
    let path = format!("/schemas/{}", part(kind));
    lists::make(call, &path, &body, ERROR, format!("Schema {name} is created."))
}
