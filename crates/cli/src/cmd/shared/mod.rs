//! What several commands do alike.

pub mod lists;
pub mod plugins;
pub mod rules;
pub mod statements;

use crate::args::Flag;
use crate::command::Call;
use crate::files;
use crate::out;
use crate::outcome::Failure;

pub const FILE: Flag =
    Flag { names: &["file", "f"], value: "FILE", help: "read the definition from this file" };

/// The text of `-f FILE`, after the line that says so.
pub fn from_file(call: &Call, what: &str) -> Result<Option<String>, Failure> {
    let Some(path) = call.args.flag("file") else { return Ok(None) };
    let text = files::read(path)?;
    if !call.json {
        out::line(&format!("Creating a new {what} from file {path}."));
    }
    Ok(Some(text))
}
