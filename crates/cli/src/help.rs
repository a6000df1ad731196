//! Pages of help, made from the list of commands.

use crate::args::Flag;
use crate::cmd::{ALL, VERBS};
use crate::command::Command;
use crate::globals;

/// The page without a command.
pub fn all() -> String {
    let verbs: Vec<(String, &str)> =
        VERBS.iter().map(|(v, about)| (v.to_string(), *about)).collect();
    page(
        "kuiper - the command line tool of the rule engine",
        "kuiper [global options] command [command options] [arguments...]",
        &verbs,
        globals::FLAGS,
    )
}

/// Top-level usage, for standard error.
pub fn usage() -> String {
    format!("Usage of kuiper:\n{}", options(globals::FLAGS))
}

/// The page of a verb, when there is such a verb.
pub fn verb(verb: &str) -> Option<String> {
    let (verb, about) = VERBS.iter().find(|(v, _)| *v == verb)?;
    let of = || ALL.iter().filter(|c| c.verb == *verb);
    if let Some(alone) = of().find(|c| c.noun.is_empty()) {
        return Some(command(alone));
    }
    let nouns: Vec<(String, &str)> =
        of().map(|c| (format!("{} {}", c.noun, c.takes), c.about)).collect();
    Some(page(
        &format!("kuiper {verb} - {about}"),
        &format!("kuiper {verb} command [command options] [arguments...]"),
        &nouns,
        &globals::FLAGS[5..6],
    ))
}

/// The page of one command.
pub fn command(c: &Command) -> String {
    let words = format!("kuiper {} {}", c.verb, c.noun);
    let words = words.trim_end();
    page(&format!("{words} - {}", c.about), &format!("{words} {}", c.takes), &[], c.flags)
}

fn page(name: &str, usage: &str, commands: &[(String, &str)], flags: &[Flag]) -> String {
    let mut out = format!("NAME:\n   {name}\n\nUSAGE:\n   {usage}\n");
    if !commands.is_empty() {
        let width = commands.iter().map(|(c, _)| c.len()).max().unwrap_or(0);
        out.push_str("\nCOMMANDS:\n");
        for (command, about) in commands {
            out.push_str(&format!("   {command:width$}  {about}\n"));
        }
    }
    if !flags.is_empty() {
        out.push_str(&format!("\nOPTIONS:\n{}", options(flags)));
    }
    out.trim_end().to_string()
}

fn options(flags: &[Flag]) -> String {
    let shown = |f: &Flag| {
        let names: Vec<String> = f
            .names
            .iter()
            .map(|n| if n.len() > 2 { format!("--{n}") } else { format!("-{n}") })
            .collect();
        format!("{} {}", names.join(", "), f.value)
    };
    let width = flags.iter().map(|f| shown(f).len()).max().unwrap_or(0);
    flags.iter().map(|f| format!("   {:width$}  {}\n", shown(f), f.help)).collect()
}
