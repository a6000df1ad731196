//! `kuiper query`: lines from standard input, results as they come; `quit` or `exit` ends. SHOW,
//! DESCRIBE, CREATE, DROP and EXPLAIN are run as statements, everything else as a trial run of the
//! server. A new query ends the one before it. On a terminal lines can be edited and are
//! remembered in `.kuiper_history` of the home folder.
//!
//! `kuiper query "SELECT ..."` runs this one and ends with its results, or after `-n` of them.

mod lines;
mod trial;

use super::shared::statements;
use crate::args::Flag;
use crate::command::{Call, Command};
use crate::out;
use crate::outcome::{Answered, Failure};
use lines::Lines;
use trial::Trial;

pub const DEF: Command = Command {
    verb: "query",
    noun: "",
    takes: "[SQL]",
    about: "run queries and see their results as they come",
    flags: &[Flag { names: &["n", "count"], value: "N", help: "end after so many results" }],
    run,
};

const STATEMENTS: [&str; 5] = ["show", "describe", "create", "drop", "explain"];

fn run(call: &Call) -> Answered {
    let count = match call.args.flag("n") {
        None => u64::MAX,
        Some(n) => n.parse().map_err(|_| {
            Failure::Unmet(format!("Expect n flag to be a number of results, not {n}."))
        })?,
    };
    if call.args.words.is_empty() {
        return converse(call);
    }
    let sql = call.args.words.join(" ");
    if is_statement(&sql) {
        return statements::run(call, &sql).map(Into::into);
    }
    let mut left = count;
    Trial::open(call.client, &sql, 0)?.read(|result| {
        out::line(result);
        left = left.saturating_sub(1);
        left > 0
    });
    Ok(String::new().into())
}

fn converse(call: &Call) -> Answered {
    let mut lines = Lines::open(call.json);
    let mut running: Option<Trial> = None;
    let mut number = 0;
    while let Some(line) = lines.next() {
        let line = line.trim();
        let line = line.strip_suffix(';').unwrap_or(line).trim();
        if line.eq_ignore_ascii_case("quit") || line.eq_ignore_ascii_case("exit") {
            break;
        }
        if line.is_empty() {
            continue;
        }
        if is_statement(line) {
            match statements::run(call, line) {
                Ok(text) => out::line(text.trim_end()),
                Err(e) => complain(call, &e),
            }
            continue;
        }
        // dropped first: the server keeps one result feed for us, not a growing number
        drop(running.take());
        number += 1;
        match Trial::open(call.client, line, number) {
            Ok(mut trial) => {
                trial.show(lines.printer());
                running = Some(trial);
            }
            Err(e) => complain(call, &e),
        }
    }
    lines.leave();
    Ok(String::new().into())
}

fn complain(call: &Call, e: &Failure) {
    out::line(&if call.json { e.json() } else { e.text().into() });
}

fn is_statement(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    STATEMENTS.iter().any(|s| word.eq_ignore_ascii_case(s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_known_by_their_first_word() {
        for line in ["SHOW streams", "  describe stream s", "Drop table t", "explain stream s"] {
            assert!(is_statement(line), "{line}");
        }
        for line in ["SELECT 1", "", "showcase"] {
            assert!(!is_statement(line), "{line}");
        }
    }
}
