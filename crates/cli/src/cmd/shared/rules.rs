//! Rules: a name and a definition, and what is done with one by its name.

use super::from_file;
use crate::client::{Reply, part};
use crate::command::Call;
use crate::fields;
use crate::outcome::{Answer, Answered, Failure};
use crate::say;

/// `NAME JSON` or `NAME -f FILE`: the name, and the text as typed.
pub fn definition(call: &Call) -> Result<(String, String), Failure> {
    let missing = || Failure::Unmet("Expect rule name and json.".into());
    let name = call.args.word(0);
    if let Some(text) = from_file(call, "rule")? {
        return match call.args.words.as_slice() {
            [name] => Ok((name.clone(), text)),
            _ => Err(missing()),
        };
    }
    match (name, call.args.words.as_slice()) {
        (Some(name), [_, json @ ..]) if !json.is_empty() => Ok((name.into(), json.join(" "))),
        _ => Err(missing()),
    }
}

/// The definition with its id, ready to be sent.
pub fn with_id(name: &str, text: &str) -> Result<String, Failure> {
    fields::named(text, "id", name)
}

/// Where the named rule lives.
pub fn path(name: &str) -> String {
    format!("/rules/{}", part(name))
}

/// The reply, or the bare sentence that there is no such rule.
pub fn known(reply: Reply, name: &str) -> Result<Reply, Failure> {
    if reply.missing() { Err(Failure::Unmet(say::no_rule(name))) } else { Ok(reply) }
}

/// start, stop, restart: done and told in `done`.
pub fn act(call: &Call, done: fn(&str) -> String) -> Answered {
    let name = call.only("rule name")?;
    let reply = call.client.post(&format!("{}/{}", path(name), call.command.verb), "")?;
    known(reply, name)?.text()?;
    Ok(done(name).into())
}

/// A document about the rule.
pub fn document(call: &Call, tail: &str) -> Answered {
    let name = call.only("rule name")?;
    let reply = call.client.get(&format!("{}/{tail}", path(name)))?;
    known(reply, name)?.json().map(Answer::Data)
}
