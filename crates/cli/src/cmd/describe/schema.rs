//! `kuiper describe schema TYPE NAME`: its JSON.

use super::super::shared::lists;
use crate::client::part;
use crate::command::{Call, Command};
use crate::outcome::Answered;

pub const DEF: Command = Command {
    verb: "describe",
    noun: "schema",
    takes: "TYPE NAME",
    about: "tell about a schema",
    flags: &[],
    run,
};

fn run(call: &Call) -> Answered {
    let (kind, name) = call.pair("schema type and name")?;
    let path = format!("/schemas/{}/{}", part(kind), part(name));
    lists::document(call, &path, "Desc schema error : ")
}
