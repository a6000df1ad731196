//! `kuiper validate rule NAME JSON`, or `NAME -f FILE`: nothing is kept.

use super::super::shared::{FILE, rules};
use crate::command::{Call, Command};
use crate::outcome::{Answer, Answered, Failure};

pub const DEF: Command = Command {
    verb: "validate",
    noun: "rule",
    takes: "NAME JSON",
    about: "check a rule without keeping it",
    flags: &[FILE],
    run,
};

fn run(call: &Call) -> Answered {
    let (name, text) = rules::definition(call)?;
    let refused = |e: Failure| e.unmet().after("invalid rule json: ");
    let body = rules::with_id(&name, &text).map_err(refused)?;
    let data = call.client.post("/rules/validate", &body)?.json().map_err(refused)?;
    let good = "The rule has been successfully validated and is confirmed to be correct.";
    Ok(Answer::Both(good.into(), data))
}
