//! A crate opens with what it is and what it does not know; it takes its lints from the workspace
//! and describes itself in its Cargo.toml.

use super::Finding;
use super::tree::Tree;

pub fn rule(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for name in tree.crates() {
        let manifest = format!("crates/{name}/Cargo.toml");
        let text = tree.get(&manifest).map_or("", |f| f.text.as_str());
        for (want, why) in [
            ("[lints]\nworkspace = true", "the lints of the house hold for every crate"),
            ("license.workspace = true", "there is one licence"),
            ("description = ", "ARCHITECTURE.md takes its line from it"),
        ] {
            if !text.contains(want) {
                found.push(Finding::new(&manifest, 0, format!("lacks {want:?}: {why}")));
            }
        }
        let roots = ["lib.rs", "main.rs"].map(|f| format!("crates/{name}/src/{f}"));
        let Some(root) = roots.iter().find_map(|path| tree.get(path)) else {
            found.push(Finding::new(&manifest, 0, "has neither lib.rs nor main.rs"));
            continue;
        };
        let doc: Vec<&str> = root.text.lines().take_while(|l| l.starts_with("//!")).collect();
        let told = doc.join(" ").to_lowercase();
        if doc.len() < 2 || !told.contains("know") {
            let says = "opens without a doc (//!) of what the crate is and what it does NOT know";
            found.push(Finding::new(&root.path, 1, says));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "description = \"x\"\nlicense.workspace = true\n[lints]\nworkspace = true\n";

    #[test]
    fn a_crate_says_what_it_does_not_know() {
        let good = "//! Widgets.\n//!\n//! Knows no IO.\n";
        let tree = Tree::of(&[("crates/x/Cargo.toml", GOOD), ("crates/x/src/lib.rs", good)]);
        assert_eq!(rule(&tree), []);
        let tree = Tree::of(&[("crates/x/Cargo.toml", GOOD), ("crates/x/src/lib.rs", "//! W\n")]);
        assert_eq!(rule(&tree).len(), 1);
    }

    #[test]
    fn a_bare_manifest_is_told_three_times() {
        let doc = "//! W\n//! knows nothing\n";
        let tree = Tree::of(&[("crates/x/Cargo.toml", ""), ("crates/x/src/lib.rs", doc)]);
        assert_eq!(rule(&tree).len(), 3);
    }
}
