//! `kuiper export ruleset FILE`: streams, tables and rules. The file is written here.

use serde_json::Value;

use crate::command::{Call, Command};
use crate::files;
use crate::outcome::{Answered, Failure};

pub const DEF: Command = Command {
    verb: "export",
    noun: "ruleset",
    takes: "FILE",
    about: "write streams, tables and rules into a file",
    flags: &[],
    run,
};

fn run(call: &Call) -> Answered {
    let file = call.only("the file to write the ruleset to")?;
    let reply = call.client.post("/ruleset/export", "")?;
    let text = reply.text().map_err(|e| e.after("Export ruleset error: "))?;
    let data: Value = serde_json::from_str(&text)
        .map_err(|e| Failure::Refused(format!("Export ruleset error: {e}")))?;
    files::write(file, &text)?;
    let count = |part: &str| data[part].as_object().map_or(0, serde_json::Map::len);
    let (streams, tables, rules) = (count("streams"), count("tables"), count("rules"));
    Ok(format!("exported {streams} streams, {tables} tables and {rules} rules").into())
}
