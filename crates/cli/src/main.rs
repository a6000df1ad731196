//! kuiper: the command line client of the rule engine.
//!
//! It turns words into calls of the REST API and replies into the lines that eKuiper's tool
//! prints. A command is a file under `cmd/`, named by the words that are typed, entered by one
//! word in the list of `cmd/mod.rs`; help and shell completions are read from the same list.
//!
//! It does NOT know how rules run: no other crate of the house is used here, so the tool can be
//! built and shipped alone.

mod address;
mod args;
mod client;
mod cmd;
mod command;
mod fields;
mod files;
mod globals;
mod godur;
mod help;
mod out;
mod outcome;
mod say;

use std::process::ExitCode;

use command::{Call, Command};
use globals::{Globals, Wanted};
use outcome::{Answered, Failure};

fn main() -> ExitCode {
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|w| w.to_string_lossy().into_owned()).collect();
    match globals::parse(&words) {
        Wanted::Run(globals, rest) => ExitCode::from(run(&globals, &rest)),
        Wanted::Usage => {
            out::error(&help::usage());
            ExitCode::SUCCESS
        }
        Wanted::Version => {
            out::line(&format!("kuiper {}", env!("CARGO_PKG_VERSION")));
            ExitCode::SUCCESS
        }
        Wanted::Refuse(why) => {
            out::error(&format!("{why}\n{}", help::usage()));
            ExitCode::from(2)
        }
    }
}

/// Runs one command; the number is the exit code.
fn run(globals: &Globals, words: &[String]) -> u8 {
    let first = words.first().map_or("", String::as_str);
    if first == "completion" {
        return finish(globals, cmd::completion::print(&words[1..]));
    }
    let addresses = match address::find(globals.url.as_deref()) {
        Ok(addresses) => addresses,
        Err(why) => return finish(globals, Err(Failure::Refused(why))),
    };
    let (command, rest) = match find(words) {
        Found::Command(command, rest) => (command, rest),
        Found::Help(text) => {
            greet(globals, &addresses[0]);
            out::line(&text);
            return 0;
        }
        Found::Unknown(text) => {
            greet(globals, &addresses[0]);
            out::error(&text);
            return 3;
        }
    };
    let (address, up) = address::choose(&addresses);
    greet(globals, address);
    let answer = if up {
        call(globals, address, command, rest)
    } else {
        let tried: Vec<String> = addresses.iter().map(address::Address::shown).collect();
        out::error(&format!(
            "nobody listens at {}: start kuiperd, or name its REST address with --url or in \
             etc/client.yaml",
            tried.join(" or ")
        ));
        Err(Failure::Refused(say::NOT_CONNECTED.into()))
    };
    finish(globals, answer)
}

fn call(
    globals: &Globals,
    address: &address::Address,
    command: &'static Command,
    words: &[String],
) -> Answered {
    let parsed = args::parse(words, command.flags)?;
    if parsed.help {
        return Ok(help::command(command).into());
    }
    let client = client::Client::new(address, globals.token.clone())?;
    (command.run)(&Call { command, client: &client, args: parsed, json: globals.json })
}

enum Found<'a> {
    Command(&'static Command, &'a [String]),
    Help(String),
    Unknown(String),
}

/// What the words name: a command, a page of help, or nothing we have.
fn find(words: &[String]) -> Found<'_> {
    let is_help = |w: &str| matches!(w, "help" | "h" | "--help" | "-help" | "-h");
    let Some((verb, rest)) = words.split_first() else { return Found::Help(help::all()) };
    if is_help(verb) {
        return Found::Help(rest.first().and_then(|v| help::verb(v)).unwrap_or_else(help::all));
    }
    if let Some(alone) = cmd::ALL.iter().find(|c| c.verb == verb && c.noun.is_empty()) {
        return Found::Command(alone, rest);
    }
    let Some(page) = help::verb(verb) else { return Found::Help(help::all()) };
    let Some((noun, rest)) = rest.split_first() else { return Found::Help(page) };
    if is_help(noun) {
        return Found::Help(page);
    }
    match cmd::ALL.iter().find(|c| c.verb == verb && c.noun == noun) {
        Some(command) => Found::Command(command, rest),
        None => Found::Unknown(format!(
            "no help topic for '{noun}': `kuiper {verb}` lists what it takes"
        )),
    }
}

fn greet(globals: &Globals, address: &address::Address) {
    if !globals.json {
        out::line(&format!("Connecting to {}... ", address.shown()));
    }
}

/// Prints what came of it and gives the exit code.
fn finish(globals: &Globals, answer: Answered) -> u8 {
    match answer {
        Ok(answer) => {
            out::line(&if globals.json { answer.json() } else { answer.text() });
            0
        }
        Err(failure) => {
            out::line(&if globals.json { failure.json() } else { failure.text().into() });
            failure.code(globals.json || globals.strict)
        }
    }
}
