//! `kuiper import ruleset -f FILE`. The file is read here and sent, so it may lie on the side of
//! the user; an http address is left to the server.

use super::super::shared::FILE;
use super::data::body;
use crate::command::{Call, Command};
use crate::outcome::{Answered, Failure};

pub const DEF: Command = Command {
    verb: "import",
    noun: "ruleset",
    takes: "",
    about: "add the streams, tables and rules of a file",
    flags: &[FILE],
    run,
};

fn run(call: &Call) -> Answered {
    let Some(file) = call.args.flag("file") else {
        return Err(Failure::Unmet("Expect the file to import: -f FILE.".into()));
    };
    let reply = call.client.post("/ruleset/import", &body(file)?)?;
    let text = reply.text().map_err(|e| e.after("Import ruleset error: "))?;
    Ok(text.trim_end().to_string().into())
}
