//! `kuiper describe udf NAME`: its JSON.

use super::super::shared::lists;
use crate::client::part;
use crate::command::{Call, Command};
use crate::outcome::Answered;

pub const DEF: Command = Command {
    verb: "describe",
    noun: "udf",
    takes: "NAME",
    about: "tell about a udf",
    flags: &[],
    run,
};

fn run(call: &Call) -> Answered {
    let name = call.only("udf name")?;
    lists::document(call, &format!("/plugins/udfs/{}", part(name)), "Describe udf error: ")
}
