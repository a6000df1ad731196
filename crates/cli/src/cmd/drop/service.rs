//! `kuiper drop service NAME`.

use super::super::shared::lists;
use crate::client::part;
use crate::command::{Call, Command};
use crate::outcome::Answered;

pub const DEF: Command = Command {
    verb: "drop",
    noun: "service",
    takes: "NAME",
    about: "remove a service",
    flags: &[],
    run,
};

fn run(call: &Call) -> Answered {
    let name = call.only("service name")?;
    let path = format!("/services/{}", part(name));
    lists::remove(call, &path, "Drop service error : ", format!("Service {name} is dropped."))
}
