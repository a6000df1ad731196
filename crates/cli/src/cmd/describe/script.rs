//! `kuiper describe script NAME`: its JSON.

use super::super::shared::lists;
use crate::client::part;
use crate::command::{Call, Command};
use crate::outcome::Answered;

pub const DEF: Command = Command {
    verb: "describe",
    noun: "script",
    takes: "NAME",
    about: "tell about a script",
    flags: &[],
    run,
};

fn run(call: &Call) -> Answered {
    let name = call.only("script name")?;
    lists::document(call, &format!("/udf/javascript/{}", part(name)), "Describe script error: ")
}
