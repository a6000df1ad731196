//! Is the house in order? Each rule is a file here and one line in [`RULES`]; it reads the texts
//! of the tree and says what is wrong, where, and what to do instead. Also run by `cargo test`.

mod bans;
mod columns;
mod docs;
mod edges;
mod libraries;
mod links;
mod names;
mod orphans;
mod purity;
mod sizes;
mod tree;

use std::path::Path;

use tree::Tree;

type Rule = fn(&Tree) -> Vec<Finding>;

const RULES: &[Rule] = &[
    sizes::rule,
    columns::rule,
    orphans::rule,
    docs::rule,
    edges::rule,
    purity::rule,
    names::rule,
    bans::rule,
    links::rule,
    libraries::rule,
];

/// Something that is not as it should be.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: String,
    /// From 1; 0 where the whole file is meant.
    line: usize,
    says: String,
    /// Told, but no reason to fail.
    mild: bool,
}

impl Finding {
    fn new(path: &str, line: usize, says: impl Into<String>) -> Self {
        Self { path: path.into(), line, says: says.into(), mild: false }
    }

    fn mild(mut self) -> Self {
        self.mild = true;
        self
    }

    fn shown(&self) -> String {
        let kind = if self.mild { "note: " } else { "" };
        match self.line {
            0 => format!("{}: {kind}{}", self.path, self.says),
            n => format!("{}:{n}: {kind}{}", self.path, self.says),
        }
    }
}

pub fn run(root: &Path) -> Result<(), String> {
    let tree = Tree::read(root)?;
    let mut findings = look(&tree);
    findings.sort_by_key(|f| (!f.mild, f.path.clone(), f.line));
    for finding in &findings {
        println!("{}", finding.shown());
    }
    match findings.iter().filter(|f| !f.mild).count() {
        0 => Ok(()),
        n => Err(format!("tidy: {n} things are out of place")),
    }
}

fn look(tree: &Tree) -> Vec<Finding> {
    RULES.iter().flat_map(|rule| rule(tree)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_repository_is_tidy() {
        let tree = Tree::read(&crate::root()).expect("the tree can be read");
        assert!(tree.files.len() > 200, "only {} files were found", tree.files.len());
        let wrong: Vec<String> =
            look(&tree).iter().filter(|f| !f.mild).map(Finding::shown).collect();
        assert!(wrong.is_empty(), "{} things:\n{}", wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn a_finding_reads_as_a_place_that_editors_open() {
        assert_eq!(Finding::new("a.rs", 3, "x").shown(), "a.rs:3: x");
        assert_eq!(Finding::new("a.rs", 0, "x").mild().shown(), "a.rs: note: x");
    }
}
