//! `kuiper drop script NAME`.

use super::super::shared::lists;
use crate::client::part;
use crate::command::{Call, Command};
use crate::outcome::Answered;

pub const DEF: Command = Command {
    verb: "drop",
    noun: "script",
    takes: "NAME",
    about: "remove a script",
    flags: &[],
    run,
};

fn run(call: &Call) -> Answered {
    let name = call.only("script name")?;
    let path = format!("/udf/javascript/{}", part(name));
    lists::remove(call, &path, "Drop script error : ", format!("Script {name} is dropped."))
}
