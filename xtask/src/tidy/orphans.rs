//! Every source file is named in its room. Rust says nothing about a file that no `mod` names: it
//! is simply not compiled, and the function, route or command in it does not exist.

use super::Finding;
use super::tree::{File, Tree};

pub fn rule(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in tree.files.iter().filter(|f| f.is_rust() && f.path.contains("/src/")) {
        let Some(name) = module_name(&file.path) else { continue };
        let Some(room) = room_of(tree, file) else {
            let says = "stands in a room without mod.rs, so nothing can list it";
            found.push(Finding::new(&file.path, 0, says));
            continue;
        };
        // a crate with both roots may have rooms of its program alone
        let beside = room.path.strip_suffix("/lib.rs").map(|src| format!("{src}/main.rs"));
        let beside = beside.and_then(|main| tree.get(&main));
        if ![Some(room), beside].iter().flatten().any(|r| words(&r.text).any(|w| w == name)) {
            let says = format!("is not listed in {}: add `{name}` there, or delete it", room.path);
            found.push(Finding::new(&file.path, 0, says));
        }
    }
    found
}

/// The word that names the file; nothing for roots, which need no naming.
fn module_name(path: &str) -> Option<&str> {
    let (folder, name) = path.rsplit_once('/')?;
    let name = name.strip_suffix(".rs")?;
    let is_root = folder.ends_with("/src") && matches!(name, "lib" | "main");
    if is_root || folder.ends_with("/bin") {
        return None;
    }
    match name {
        "mod" => folder.rsplit('/').next(),
        name => Some(name),
    }
}

/// The file that must list it: the next one above that can hold `mod`.
fn room_of<'a>(tree: &'a Tree, file: &File) -> Option<&'a File> {
    let mut folder = file.path.rsplit_once('/')?.0;
    if file.path.ends_with("/mod.rs") {
        folder = folder.rsplit_once('/')?.0;
    }
    loop {
        let candidates = [
            format!("{folder}/mod.rs"),
            format!("{folder}.rs"),
            format!("{folder}/lib.rs"),
            format!("{folder}/main.rs"),
        ];
        let room = candidates.iter().find_map(|c| tree.get(c));
        if room.is_some() || folder.ends_with("/src") {
            return room;
        }
        folder = folder.rsplit_once('/')?.0;
    }
}

/// Words of the code; a name in a comment lists nothing.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let code = text.lines().filter(|l| !l.trim_start().starts_with("//"));
    code.flat_map(|l| l.split(|c: char| !(c.is_alphanumeric() || c == '_')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orphans(files: &[(&str, &str)]) -> Vec<String> {
        rule(&Tree::of(files)).into_iter().map(|f| f.path).collect()
    }

    #[test]
    fn a_file_that_nobody_names_is_found() {
        let files = [
            ("crates/x/src/lib.rs", "mod a;\n// mod c;\n"),
            ("crates/x/src/a.rs", "mod deep;"),
            ("crates/x/src/a/deep.rs", ""),
            ("crates/x/src/a/lost.rs", ""),
            ("crates/x/src/c.rs", ""),
        ];
        assert_eq!(orphans(&files), ["crates/x/src/a/lost.rs", "crates/x/src/c.rs"]);
    }

    #[test]
    fn either_root_of_a_crate_may_name_a_room() {
        let files = [
            ("crates/x/src/lib.rs", "mod a;"),
            ("crates/x/src/main.rs", "mod b;"),
            ("crates/x/src/a.rs", ""),
            ("crates/x/src/b/mod.rs", ""),
            ("crates/x/src/c/mod.rs", ""),
        ];
        assert_eq!(orphans(&files), ["crates/x/src/c/mod.rs"]);
    }

    #[test]
    fn rooms_within_a_list_and_folders_with_mod() {
        let files = [
            ("crates/x/src/main.rs", "mod cmd;"),
            ("crates/x/src/cmd/mod.rs", "commands! { create { stream } }"),
            ("crates/x/src/cmd/create/stream.rs", ""),
            ("crates/x/src/cmd/create/ghost.rs", ""),
            ("crates/x/src/bin/other.rs", ""),
        ];
        assert_eq!(orphans(&files), ["crates/x/src/cmd/create/ghost.rs"]);
    }
}
