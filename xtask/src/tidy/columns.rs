//! Lines of Rust have at most 100 columns: two files fit beside each other. In files of tests a
//! line that holds a text may be longer: a case is read best as it is typed.

use super::Finding;
use super::tree::Tree;

const COLUMNS: usize = 100;

pub fn rule(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in tree.files.iter().filter(|f| f.is_rust()) {
        for (n, line) in file.text.lines().enumerate() {
            let columns = line.chars().count();
            if columns > COLUMNS && !(file.is_test() && line.contains('"')) {
                let says = format!("{columns} columns, at most {COLUMNS}: break the line");
                found.push(Finding::new(&file.path, n + 1, says));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_letters_and_not_bytes() {
        let text = format!("{}\n{}\n", "é".repeat(100), "x".repeat(101));
        let found = rule(&Tree::of(&[("a.rs", &text), ("a.md", &text)]));
        assert_eq!(found.len(), 1);
        let case = format!("check(\"{}\");\n", "x".repeat(100));
        assert!(rule(&Tree::of(&[("crates/x/tests/a.rs", &case)])).is_empty());
        assert_eq!(rule(&Tree::of(&[("crates/x/src/a.rs", &case)])).len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), ("a.rs", 2));
    }
}
