//! Every library is in docs/decisions/0002-libraries.md with its reason; none is there that is
//! not used any more.

use std::collections::BTreeSet;

use super::Finding;
use super::edges::all_dependencies;
use super::tree::Tree;

const LIST: &str = "docs/decisions/0002-libraries.md";
/// Crates of ours without the prefix.
const OWN: [&str; 2] = ["mqttgen", "iotrunner"];

pub fn rule(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.files.iter().filter(|f| f.path.ends_with("/Cargo.toml"));
    let mut used = BTreeSet::new();
    let mut found = Vec::new();
    let text = tree.get(LIST).map_or("", |f| f.text.as_str());
    let listed: BTreeSet<&str> = text.lines().filter_map(listed).collect();
    for file in manifests {
        for (line, name) in all_dependencies(&file.text) {
            if name.starts_with("rekuiper-") || OWN.contains(&name) {
                continue;
            }
            used.insert(name);
            if !listed.contains(name) {
                let says = format!("{name} is not in {LIST}: add it with licence and reason");
                found.push(Finding::new(&file.path, line, says));
            }
        }
    }
    for name in listed.iter().filter(|n| !used.contains(*n)) {
        found.push(Finding::new(LIST, 0, format!("{name} is listed but nobody uses it")));
    }
    found
}

/// The library of a line of the table, if it has a reason.
fn listed(line: &str) -> Option<&str> {
    let mut cells = line.strip_prefix("| `")?.split('|').map(str::trim);
    let name = cells.next()?.strip_suffix('`')?;
    let complete = cells.clone().take(3).filter(|c| !c.is_empty()).count() == 3;
    complete.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_and_forgotten_libraries_are_told() {
        let table = "| `a` | MIT | x | why |\n| `old` | MIT | x | why |\n| `b` | MIT | x |  |\n";
        let manifest = "[dependencies]\na = \"1\"\nrekuiper-value.workspace = true\n\
                        [dev-dependencies]\nb.workspace = true\n";
        let tree = Tree::of(&[(LIST, table), ("crates/x/Cargo.toml", manifest)]);
        let says: Vec<String> = rule(&tree).into_iter().map(|f| f.says).collect();
        assert_eq!(says.len(), 2, "{says:?}");
        assert!(says[0].starts_with("b is not in") && says[1].starts_with("old is listed"));
    }
}
