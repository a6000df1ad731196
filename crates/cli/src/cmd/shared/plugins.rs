//! Kinds of plugins, as words and as paths.

use crate::outcome::Failure;

/// The word, and its room in the API.
const KINDS: [(&str, &str); 5] = [
    ("source", "sources"),
    ("sink", "sinks"),
    ("function", "functions"),
    ("portable", "portables"),
    ("wasm", "wasm"),
];

/// `/plugins/...` of the kind.
pub fn path(kind: &str) -> Result<String, Failure> {
    match KINDS.iter().find(|(word, _)| *word == kind) {
        Some((_, room)) => Ok(format!("/plugins/{room}")),
        None => {
            let words: Vec<&str> = KINDS.iter().map(|(word, _)| *word).collect();
            Err(Failure::Unmet(format!(
                "Invalid plugin type {kind}, one of {} is expected.",
                words.join(", ")
            )))
        }
    }
}
