//! Flags and words after a command. A flag has one dash or two, its value stands after it or
//! behind `=`; flags come before or after the words, and what looks like a flag but is none of the
//! command's is refused before the first word and a word after it (SQL may hold anything).

use crate::outcome::Failure;

pub struct Flag {
    /// The first name is the one the code asks for.
    pub names: &'static [&'static str],
    /// What stands for the value in help; empty for a switch.
    pub value: &'static str,
    pub help: &'static str,
}

#[derive(Default, Debug)]
pub struct Args {
    pub words: Vec<String>,
    flags: Vec<(&'static str, String)>,
    pub help: bool,
}

impl Args {
    pub fn flag(&self, name: &str) -> Option<&str> {
        self.flags.iter().rev().find(|(n, _)| *n == name).map(|(_, v)| v.as_str())
    }

    pub fn word(&self, at: usize) -> Option<&str> {
        self.words.get(at).map(String::as_str)
    }
}

pub fn parse(words: &[String], flags: &'static [Flag]) -> Result<Args, Failure> {
    let mut args = Args::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).unwrap_or("");
        let (name, given) = match name.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (name, None),
        };
        let Some(flag) = flags.iter().find(|f| f.names.contains(&name)) else {
            if args.words.is_empty() && matches!(name, "help" | "h") {
                args.help = true;
            } else if args.words.is_empty() && name.starts_with(|c: char| c.is_ascii_alphabetic()) {
                return Err(Failure::Unmet(format!(
                    "Incorrect Usage: flag provided but not defined: -{name}"
                )));
            } else {
                args.words.push(word.clone());
            }
            continue;
        };
        let value = match given {
            Some(value) => value,
            None if flag.value.is_empty() => "true".into(),
            None => words.next().cloned().ok_or_else(|| {
                Failure::Unmet(format!("Incorrect Usage: flag needs an argument: -{name}"))
            })?,
        };
        args.flags.push((flag.names[0], value));
    }
    Ok(args)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAGS: &[Flag] = &[
        Flag { names: &["file", "f"], value: "FILE", help: "" },
        Flag { names: &["json"], value: "", help: "" },
    ];

    fn of(words: &[&str]) -> Result<Args, Failure> {
        let words: Vec<String> = words.iter().map(|w| (*w).to_string()).collect();
        parse(&words, FLAGS)
    }

    #[test]
    fn flags_stand_before_or_after_words() {
        for words in [["-f", "a.json", "r1"], ["r1", "--file", "a.json"]] {
            let args = of(&words).unwrap();
            assert_eq!(args.flag("file"), Some("a.json"));
            assert_eq!(args.word(0), Some("r1"));
        }
        assert_eq!(of(&["-json", "s"]).unwrap().flag("json"), Some("true"));
    }

    #[test]
    fn sql_words_with_dashes_stay_words() {
        let args = of(&["s", "(a", "bigint)", "--", "-x"]).unwrap();
        assert_eq!(args.words, ["s", "(a", "bigint)", "--", "-x"]);
    }

    #[test]
    fn unknown_flags_and_missing_values_are_told() {
        assert!(of(&["-zz", "s"]).unwrap_err().text().contains("-zz"));
        assert!(of(&["s", "-f"]).unwrap_err().text().contains("-f"));
    }
}
