//! One function, one file, named by the word the user types.

use std::path::Path;

#[test]
fn each_function_lives_in_the_file_of_its_name() {
    for def in rekuiper_functions::all() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(def.family);
        // mod.rs is the family itself
        let word = if def.name == "mod" { "modulo" } else { def.name };
        let text = std::fs::read_to_string(folder.join(format!("{word}.rs"))).unwrap_or_default();
        // a running form is another name for its namesake, one line in a file of its own
        let own = [format!("name: \"{}\"", def.name), format!("running!({} of ", def.name)];
        let found = own.iter().any(|word| text.contains(word));
        assert!(found, "{} has no file of its own in {}", def.name, def.family);
    }
}

#[test]
fn what_can_be_shown_is_shown() {
    use rekuiper_functions::{Kind, NullRule};
    for def in rekuiper_functions::all() {
        // rows, times and states cannot be shown by a constant expression
        if matches!(def.kind, Kind::Scalar(_)) && def.pure && def.nulls != NullRule::Pass {
            assert!(!def.example.0.is_empty(), "{} has no example", def.name);
        }
        assert!(def.doc.ends_with(['.', '`']), "{}: {}", def.name, def.doc);
    }
}
