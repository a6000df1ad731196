//! `kuiper describe service_func NAME`: its JSON.

use super::super::shared::lists;
use crate::client::part;
use crate::command::{Call, Command};
use crate::outcome::Answered;

pub const DEF: Command = Command {
    verb: "describe",
    noun: "service_func",
    takes: "NAME",
    about: "tell about a service func",
    flags: &[],
    run,
};

fn run(call: &Call) -> Answered {
    let name = call.only("service func name")?;
    let path = format!("/services/functions/{}", part(name));
    lists::document(call, &path, "Desc service func error : ")
}
