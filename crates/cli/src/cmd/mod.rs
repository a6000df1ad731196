//! The commands: `<verb>/<noun>.rs` each, and the list that help, completion and `main` read.
//! What several of them do alike is in `shared/`.

pub mod completion;
mod shared;

use crate::command::Command;

/// One word here makes a command: the module and its entry in [`ALL`].
macro_rules! commands {
    ($($verb:ident { $($noun:ident),* $(,)? })*; $($alone:ident),*) => {
        $(mod $verb { $(pub mod $noun;)* })*
        $(pub mod $alone;)*
        pub const ALL: &[&Command] = &[$($(&$verb::$noun::DEF,)*)* $(&$alone::DEF,)*];
    };
}

commands! {
    create { stream, table, rule, plugin, service, schema, script }
    describe { stream, table, rule, plugin, udf, service, service_func, schema, script }
    drop { stream, table, rule, plugin, service, schema, script }
    export { ruleset, data }
    getstatus { rule, import }
    gettopo { rule }
    import { ruleset, data }
    register { plugin }
    restart { rule }
    show { streams, tables, rules, plugins, udfs, services, service_funcs, schemas, scripts }
    start { rule }
    stop { rule }
    validate { rule };
    query
}

/// What help says of each verb, in its order.
pub const VERBS: &[(&str, &str)] = &[
    ("create", "make a stream, table, rule, plugin, service, schema or script"),
    ("describe", "tell about one of them"),
    ("drop", "remove one of them"),
    ("export", "write a ruleset or the whole configuration into a file"),
    ("getstatus", "tell how a rule or an import goes"),
    ("gettopo", "show the nodes of a rule"),
    ("import", "read a ruleset or a configuration from a file"),
    ("query", "run queries and see their results as they come"),
    ("register", "name the functions of a plugin"),
    ("restart", "stop and start a rule"),
    ("show", "list what there is"),
    ("start", "start a rule"),
    ("stop", "stop a rule"),
    ("validate", "check a rule without keeping it"),
    ("completion", "print completions for a shell: bash, zsh, fish, powershell or elvish"),
    ("help", "show this page, or the page of one command"),
];

#[cfg(test)]
mod tests {
    use super::{ALL, VERBS};

    #[test]
    fn every_verb_with_commands_is_explained() {
        for c in ALL {
            assert!(VERBS.iter().any(|(v, _)| *v == c.verb), "{}", c.verb);
        }
    }

    #[test]
    fn a_command_is_listed_once_and_says_what_it_does() {
        for (i, c) in ALL.iter().enumerate() {
            assert!(!c.about.is_empty(), "{} {}", c.verb, c.noun);
            let twin = ALL.iter().skip(i + 1).find(|d| (c.verb, c.noun) == (d.verb, d.noun));
            assert!(twin.is_none(), "{} {}", c.verb, c.noun);
        }
    }
}
