//! `kuiper getstatus import`: what went wrong in the last import, by part.

use super::super::shared::lists;
use crate::command::Command;

pub const DEF: Command = Command {
    verb: "getstatus",
    noun: "import",
    takes: "",
    about: "how the last import went",
    flags: &[],
    run: |call| lists::document(call, "/data/import/status", "Get import status error: "),
};
