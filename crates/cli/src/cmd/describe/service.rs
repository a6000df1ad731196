//! `kuiper describe service NAME`: its JSON.

use super::super::shared::lists;
use crate::client::part;
use crate::command::{Call, Command};
use crate::outcome::Answered;

pub const DEF: Command = Command {
    verb: "describe",
    noun: "service",
    takes: "NAME",
    about: "tell about a service",
    flags: &[],
    run,
};

fn run(call: &Call) -> Answered {
    let name = call.only("service name")?;
    lists::document(call, &format!("/services/{}", part(name)), "Desc service error : ")
}
