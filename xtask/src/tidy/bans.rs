//! Words that have no place here, each with what to do instead. Exceptions are listed with their
//! reason.

use super::Finding;
use super::tree::{File, Tree};

struct Ban {
    /// Written in parts, so that this file does not find itself.
    text: &'static [&'static str],
    instead: &'static str,
    holds_for: fn(&File) -> bool,
    /// Files where it may stand, each with the reason.
    but: &'static [(&'static str, &'static str)],
}

const BANS: &[Ban] = &[
    Ban {
        text: &["FIX", "ME"],
        instead: "do it, or write down in docs/ what is missing",
        holds_for: File::is_rust,
        but: &[],
    },
    Ban {
        text: &["TO", "DO"],
        instead: "do it, or write down in docs/ what is missing",
        holds_for: File::is_rust,
        but: &[],
    },
    Ban {
        text: &["#[ign", "ore"],
        instead: "a test that does not run is no test: make it fast, or move it to xtask",
        holds_for: File::is_rust,
        but: &[],
    },
    Ban {
        text: &["unbounded", "_channel"],
        instead: "every queue has a name and a bound: rekuiper_rt::queue",
        holds_for: in_code,
        but: &[(
            "crates/connect/src/mqtt/acks.rs",
            "one word for each batch in flight, and those are bounded by the receive window",
        )],
    },
    Ban {
        text: &["mpsc::", "channel::<"],
        instead: "every queue has a name and a bound: rekuiper_rt::queue, or sync_channel",
        holds_for: std_channel_file,
        but: &[],
    },
    Ban {
        text: &["print", "ln!"],
        instead: "say it with tracing: only cli, xtask and benchmarks own a terminal",
        holds_for: quiet,
        but: &[
            ("crates/server/src/main.rs", "usage, and errors before there is a log"),
            ("crates/server/src/start.rs", "what must be seen even when the log goes to a file"),
        ],
    },
    Ban {
        text: &["/wo", "rk/"],
        instead: "the repository knows no machine: take the path as an argument",
        holds_for: |_| true,
        but: &[],
    },
    Ban {
        text: &["/ro", "ot/"],
        instead: "the repository knows no machine: take the path as an argument",
        holds_for: |_| true,
        but: &[],
    },
    Ban {
        text: &["/ho", "me/"],
        instead: "the repository knows no machine: take the path as an argument",
        holds_for: |_| true,
        but: &[],
    },
];

fn in_code(file: &File) -> bool {
    file.is_rust() && !file.is_test()
}

fn std_channel_file(file: &File) -> bool {
    in_code(file) && file.text.contains("std::sync::mpsc")
}

fn quiet(file: &File) -> bool {
    let loud = ["cli"].map(Some).contains(&file.source_of());
    file.source_of().is_some() && !loud && !file.is_test()
}

pub fn rule(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for ban in BANS {
        let text = ban.text.concat();
        let files = tree.files.iter().filter(|f| (ban.holds_for)(f));
        for file in files.filter(|f| !ban.but.iter().any(|(path, _)| *path == f.path)) {
            for (n, line) in file.text.lines().enumerate().filter(|(_, l)| l.contains(&text)) {
                // `TODOS` or `println!` within a longer word is something else
                if text.chars().all(|c| c.is_ascii_uppercase()) && !is_word(line, &text) {
                    continue;
                }
                let says = format!("{text}: {}", ban.instead);
                found.push(Finding::new(&file.path, n + 1, says));
            }
        }
    }
    found
}

fn is_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(files: &[(&str, &str)]) -> Vec<(String, usize)> {
        rule(&Tree::of(files)).into_iter().map(|f| (f.path, f.line)).collect()
    }

    #[test]
    fn each_banned_text_is_found() {
        for ban in BANS {
            let text = format!("use std::sync::mpsc;\n{}\n", ban.text.concat());
            let path = "crates/flow/src/a.rs";
            assert_eq!(places(&[(path, &text)]), [(path.to_string(), 2)], "{text}");
        }
    }

    #[test]
    fn terminals_belong_to_the_tools() {
        let text = format!("{}(\"x\");\n", BANS[5].text.concat());
        assert!(places(&[("crates/cli/src/a.rs", &text), ("xtask/src/a.rs", &text)]).is_empty());
        assert!(places(&[("crates/flow/tests/a.rs", &text)]).is_empty());
        assert_eq!(places(&[("crates/flow/src/a.rs", &text)]).len(), 1);
    }

    #[test]
    fn exceptions_have_their_file_and_a_reason() {
        for (path, reason) in BANS.iter().flat_map(|b| b.but) {
            assert!(reason.len() > 10, "{path}");
            let tree = Tree::read(&crate::root()).expect("the tree can be read");
            assert!(tree.get(path).is_some(), "{path} is excepted but is not there");
        }
    }
}
