//! `kuiper completion SHELL`: a script for the shell, from the list of commands. Works without a
//! server, and prints nothing else, so that its output can be sourced.

use clap::{Arg, ArgAction, Command as Tree};
use clap_complete::{Shell, generate};

use super::{ALL, VERBS};
use crate::args::Flag;
use crate::globals;
use crate::outcome::{Answered, Failure};

pub fn print(words: &[String]) -> Answered {
    let shell = match words {
        [one] => one.parse::<Shell>().ok(),
        _ => None,
    };
    let Some(shell) = shell else {
        return Err(Failure::Refused(
            "Expect a shell: bash, zsh, fish, powershell or elvish.".into(),
        ));
    };
    let mut script = Vec::new();
    generate(shell, &mut tree(), "kuiper", &mut script);
    Ok(String::from_utf8_lossy(&script).trim_end().to_string().into())
}

fn tree() -> Tree {
    let top = Tree::new("kuiper").disable_help_flag(true).disable_help_subcommand(true);
    let top = top.args(globals::FLAGS.iter().map(arg));
    VERBS.iter().fold(top, |top, (verb, about)| {
        let mut sub = Tree::new(*verb).about(*about).disable_help_flag(true);
        for c in ALL.iter().filter(|c| c.verb == *verb) {
            let flags: Vec<Arg> = c.flags.iter().map(arg).collect();
            sub = if c.noun.is_empty() {
                sub.args(flags)
            } else {
                let noun = Tree::new(c.noun).about(c.about).disable_help_flag(true).args(flags);
                sub.subcommand(noun)
            };
        }
        top.subcommand(sub)
    })
}

fn arg(flag: &Flag) -> Arg {
    let arg = Arg::new(flag.names[0]).help(flag.help);
    let arg = flag.names.iter().fold(arg, |arg, name| match name.as_bytes() {
        [one] => arg.short(char::from(*one)),
        _ => arg.long(*name),
    });
    arg.action(if flag.value.is_empty() { ArgAction::SetTrue } else { ArgAction::Set })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_knows_every_command() {
        for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
            let script = print(&[shell.into()]).unwrap_or_else(|e| panic!("{}", e.text())).text();
            for c in ALL {
                assert!(script.contains(c.verb), "{shell} {}", c.verb);
                assert!(script.contains(c.noun), "{shell} {}", c.noun);
            }
        }
        assert!(print(&[]).is_err());
        assert!(print(&["tcl".into()]).is_err());
    }
}
