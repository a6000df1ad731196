//! The command line of `iotrunner`.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use iotrunner::options::{Cli, Options, RunArgs, Verb};
use iotrunner::{bare, children, page, plan, report, spec};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Some(Verb::Bare {
            port,
            sink,
            drop_every,
            prompt,
        }) => bare::run(port, &sink, drop_every, prompt)
            .map(|()| true)
            .map_err(|e| format!("bare on port {port}: {e}")),
        Some(Verb::Page { page, check }) => renew(&page, check),
        Some(Verb::Mqttgen { words }) => return mqttgen::cli::main(&words),
        None => run(cli.run),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(text) => {
            eprintln!("iotrunner: {text}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: RunArgs) -> Result<bool, String> {
    let options = Options::from_args(args)?;
    if let Some(core) = options.load_core {
        children::pin_self(core)?;
    }
    let record = !options.smoke || options.out.is_some();
    let mut folder = None;
    // Written after every step: who stops a run early still has what was measured.
    let results = plan::run(&options, |line, results| {
        say(line);
        if record {
            match report::write(&options, &command_line(), results) {
                Ok(path) => folder = Some(path),
                Err(e) => eprintln!("iotrunner: the record could not be written: {e}"),
            }
        }
    })?;
    if let Some(folder) = folder {
        say(&format!("evidence: {}", folder.display()));
    }
    let success = results.success(&options);
    if !success {
        eprintln!("iotrunner: some steps were not held, see above");
    }
    Ok(success)
}

fn renew(path: &Path, check: bool) -> Result<bool, String> {
    let home = spec::home()?;
    let home = home.canonicalize().map_err(|e| e.to_string())?;
    let repository = home.ancestors().nth(3).unwrap_or(&home);
    let changed = page::renew(&repository.join(path), repository, check)?;
    match (changed, check) {
        (true, true) => Err(format!(
            "{} is not as the runs have it: `iotrunner page`",
            path.display()
        )),
        _ => Ok(true),
    }
}

/// Prints a line; a reader that went away does not end a run of half an hour.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// The command as it was typed, with file names instead of paths: a record is for everybody.
fn command_line() -> String {
    let words = std::env::args()
        .skip(1)
        .map(|word| match word.rsplit_once('/') {
            Some((before, name)) => {
                let key = before.split_once('=').map(|(key, _)| format!("{key}="));
                format!("{}{name}", key.unwrap_or_default())
            }
            None => word,
        });
    format!("iotrunner {}", words.collect::<Vec<_>>().join(" "))
}
