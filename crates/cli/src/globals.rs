//! Flags that stand before the command. One dash or two, `-flag value` or `-flag=value`, as Go
//! programs have it; `--json` and `--strict` may stand anywhere.

use crate::args::Flag;

pub const FLAGS: &[Flag] = &[
    Flag {
        names: &["url"],
        value: "URL",
        help: "REST address of the server (also KUIPER_URL), before etc/client.yaml",
    },
    Flag { names: &["token"], value: "TOKEN", help: "token to log in with (also KUIPER_TOKEN)" },
    Flag { names: &["json"], value: "", help: "print JSON only; every failure exits with 1" },
    Flag { names: &["strict"], value: "", help: "every failure exits with 1" },
    Flag { names: &["version"], value: "", help: "print the version" },
    Flag { names: &["help", "h"], value: "", help: "show help" },
    Flag {
        names: &["loadFileType"],
        value: "TYPE",
        help: "relative or absolute; taken for compatibility, it changes nothing here",
    },
    Flag { names: &["etc"], value: "DIR", help: "folder of client.yaml instead of etc" },
];

#[derive(Default)]
pub struct Globals {
    pub url: Option<String>,
    pub token: Option<String>,
    pub json: bool,
    pub strict: bool,
}

pub enum Wanted {
    Run(Globals, Vec<String>),
    Usage,
    Version,
    Refuse(String),
}

pub fn parse(words: &[String]) -> Wanted {
    let mut globals =
        Globals { url: env("KUIPER_URL"), token: env("KUIPER_TOKEN"), ..Globals::default() };
    let mut words = words.iter().peekable();
    while let Some(word) = words.next_if(|w| w.len() > 1 && w.starts_with('-')) {
        if word == "--" {
            break;
        }
        let bare = word.trim_start_matches('-');
        let (name, given) = match bare.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (bare, None),
        };
        let Some(flag) = FLAGS.iter().find(|f| f.names.contains(&name)) else {
            return Wanted::Refuse(format!("flag provided but not defined: -{name}"));
        };
        let mut value = given.unwrap_or_default();
        if !flag.value.is_empty() && value.is_empty() {
            match words.next() {
                Some(next) => value.clone_from(next),
                None => return Wanted::Refuse(format!("flag needs an argument: -{name}")),
            }
        }
        match flag.names[0] {
            "url" => globals.url = Some(value),
            "token" => globals.token = Some(value),
            "json" => globals.json = true,
            "strict" => globals.strict = true,
            "version" => return Wanted::Version,
            "help" => return Wanted::Usage,
            "etc" => crate::address::set_folder(value),
            _ => {}
        }
    }
    let mut rest: Vec<String> = words.cloned().collect();
    rest.retain(|word| match word.as_str() {
        "--json" => {
            globals.json = true;
            false
        }
        "--strict" => {
            globals.strict = true;
            false
        }
        _ => true,
    });
    Wanted::Run(globals, rest)
}

fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|v| !v.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(String::from).collect()
    }

    #[test]
    fn one_dash_or_two_and_either_form_of_value() {
        for line in ["-url http://h:1 show rules", "--url=http://h:1 show rules"] {
            let Wanted::Run(globals, rest) = parse(&words(line)) else { panic!("{line}") };
            assert_eq!(globals.url.as_deref(), Some("http://h:1"));
            assert_eq!(rest, ["show", "rules"]);
        }
    }

    #[test]
    fn json_may_stand_anywhere_and_one_dash_json_belongs_to_the_command() {
        let Wanted::Run(globals, rest) = parse(&words("describe stream -json s --json")) else {
            panic!("refused")
        };
        assert!(globals.json);
        assert_eq!(rest, ["describe", "stream", "-json", "s"]);
    }

    #[test]
    fn unknown_flags_are_refused_with_their_name() {
        let Wanted::Refuse(why) = parse(&words("--nosuch show")) else { panic!("taken") };
        assert!(why.contains("nosuch"));
        assert!(matches!(parse(&words("-url")), Wanted::Refuse(_)));
    }
}
