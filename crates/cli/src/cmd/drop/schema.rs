//! `kuiper drop schema TYPE NAME`. (No full stop in its reply: scripts compare the line.)

use super::super::shared::lists;
use crate::client::part;
use crate::command::{Call, Command};
use crate::outcome::Answered;

pub const DEF: Command = Command {
    verb: "drop",
    noun: "schema",
    takes: "TYPE NAME",
    about: "remove a schema",
    flags: &[],
    run,
};

fn run(call: &Call) -> Answered {
    let (kind, name) = call.pair("schema type and name")?;
    let path = format!("/schemas/{}/{}", part(kind), part(name));
    lists::remove(call, &path, "Drop schema error : ", format!("Schema {name} is dropped"))
}
