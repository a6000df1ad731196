//! Chores of the repository, as `cargo xtask NAME`.
//!
//! `tidy` looks whether the house is in order, `codegen` writes what is generated, `test` is the
//! one command that proves everything, `ci` is what the machine runs. No dependencies, so that it
//! builds in seconds. It does NOT know the crates it looks at: it reads their text.

mod codegen;
mod steps;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask tidy               look whether the house is in order
cargo xtask codegen [--check]  write the generated pages, or only say which are stale
cargo xtask test [--quick]     everything that must hold; --quick leaves out release builds
cargo xtask ci                 the same as test, with the time of each step at the end";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let root = root();
    let done = match words.as_slice() {
        ["tidy"] => tidy::run(&root),
        ["codegen"] => codegen::write(&root),
        ["codegen", "--check"] => codegen::check(&root),
        ["test"] | ["ci"] => steps::all(&root, false),
        ["test", "--quick"] => steps::all(&root, true),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(PathBuf::from).unwrap_or(here)
}
