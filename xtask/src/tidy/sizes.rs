//! Files stay small enough to be read in one sitting: up to 400 lines before the tests, a note
//! above, and above 800 only with a reason.

use super::Finding;
use super::tree::Tree;

const NOTE: usize = 400;
const FAIL: usize = 800;

/// Longer files, each with the reason. A long list is fine, a long mechanism is not.
const LONG: &[(&str, &str)] = &[];

pub fn rule(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in tree.files.iter().filter(|f| f.is_rust()) {
        let lines = file.code().count();
        if lines > FAIL && !LONG.iter().any(|(path, _)| *path == file.path) {
            let says = format!(
                "{lines} lines before the tests, at most {FAIL}: move a part that can be named \
                 into its own file, or list it in xtask/src/tidy/sizes.rs with the reason"
            );
            found.push(Finding::new(&file.path, 0, says));
        } else if lines > NOTE {
            let says = format!("{lines} lines before the tests, aim for {NOTE}");
            found.push(Finding::new(&file.path, 0, says).mild());
        }
    }
    for (path, _) in LONG.iter().filter(|(path, _)| tree.get(path).is_none()) {
        found.push(Finding::new(path, 0, "is listed as long but is not there"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_told_and_whales_fail() {
        let (long, whale) = ("x\n".repeat(401), "x\n".repeat(801));
        let tree = Tree::of(&[
            ("crates/x/src/a.rs", &long),
            ("crates/x/src/b.rs", &whale),
            ("crates/x/tests/c.rs", &whale),
        ]);
        let found = rule(&tree);
        assert_eq!(found.len(), 2);
        assert!(found[0].mild && !found[1].mild);
    }
}
