//! The two ways out of the program. A reader that went away (`kuiper show rules | head -1`) ends
//! it quietly instead of with a panic.

use std::io::Write;

/// Prints one line, or several, to standard output; nothing when there is nothing to say.
pub fn line(text: &str) {
    if !text.is_empty() {
        write(&format!("{text}\n"));
    }
}

/// Prints without an end of line, at once: prompts.
pub fn write(text: &str) {
    let mut out = std::io::stdout().lock();
    if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

pub fn error(text: &str) {
    // nobody is left to be told when this fails
    let _ = writeln!(std::io::stderr(), "{text}");
}
