//! Documents name files that exist: links of markdown everywhere, and paths in backquotes in the
//! documents at the root.

use super::Finding;
use super::tree::Tree;

/// Where a path in backquotes may begin.
const FROM: &[&str] = &["", "crates/", "xtask/src/", "test/benchmark/iiot-mqtt/"];

pub fn rule(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in tree.files.iter().filter(|f| f.path.ends_with(".md")) {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (n, line) in file.text.lines().enumerate() {
            for target in links(line).filter(|t| !tree.exists(&join(folder, t))) {
                let says = format!("links to {target}, which is not there");
                found.push(Finding::new(&file.path, n + 1, says));
            }
            if folder.is_empty() {
                for path in paths(line).filter(|p| !known(tree, p)) {
                    let says = format!("names {path}, which is not there");
                    found.push(Finding::new(&file.path, n + 1, says));
                }
            }
        }
    }
    found
}

/// Targets of `](...)` that are files of ours.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let ends = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let targets = ends.map(|(target, _)| target.split('#').next().unwrap_or_default());
    targets.filter(|t| !t.is_empty() && !t.contains("://"))
}

/// Words in backquotes that read as a path to a file or folder of the sources.
fn paths(line: &str) -> impl Iterator<Item = &str> {
    let quoted = line.split('`').skip(1).step_by(2);
    quoted.filter(|w| {
        let is_file = w.ends_with(".rs") || w.ends_with('/');
        is_file && w.contains('/') && !w.contains(['<', '*', ' ']) && !w.starts_with('/')
    })
}

fn known(tree: &Tree, path: &str) -> bool {
    let path = path.trim_end_matches('/');
    FROM.iter().any(|from| tree.exists(&format!("{from}{path}")))
        // `string/lpad.rs`: within the room that the recipe speaks of
        || tree.files.iter().any(|f| f.path.contains("/src/") && in_room(&f.path, path))
}

fn in_room(path: &str, part: &str) -> bool {
    path.ends_with(&format!("/{part}")) || path.contains(&format!("/{part}/"))
}

/// The target as seen from the root.
fn join(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|p| !p.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let tree = Tree::of(&[
            (path, text),
            ("docs/guide/cli.md", ""),
            ("crates/x/src/room/thing.rs", ""),
            ("crates/x/src/lib.rs", ""),
        ]);
        rule(&tree).into_iter().map(|f| f.line).collect()
    }

    #[test]
    fn links_are_followed_from_their_document() {
        let text = "[a](cli.md)\n[a](../guide/cli.md#x) [b](https://x/y)\n[c](gone.md)\n[d](..)\n";
        assert_eq!(lines("docs/guide/a.md", text), [3]);
        assert_eq!(lines("README.md", "[a](docs/guide) [b](docs/nowhere)\n"), [1]);
    }

    #[test]
    fn paths_of_root_documents_exist() {
        let text = "`x/src/lib.rs`\n`room/thing.rs`\n`x/src/gone.rs`\n`crates/<n>/y.rs`\n`room/`\n";
        assert_eq!(lines("A.md", text), [3]);
    }
}
