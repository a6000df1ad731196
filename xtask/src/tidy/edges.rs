//! Which crate may know which: the table of ARCHITECTURE.md, held here. Dev-dependencies are free.

use super::Finding;
use super::tree::Tree;

/// The crate, and all it may depend on among ours.
const EDGES: &[(&str, &[&str])] = &[
    ("value", &[]),
    ("rt", &[]),
    ("mqtt-codec", &[]),
    ("store", &[]),
    ("sql", &[]),
    ("functions", &["value"]),
    ("expr", &["value", "functions"]),
    ("plan", &["value", "sql", "functions", "expr"]),
    ("ops", &["value", "functions", "expr", "plan"]),
    ("formats", &["value"]),
    ("template", &["value"]),
    ("broker", &["mqtt-codec", "rt"]),
    ("connect", &["value", "rt", "formats", "template", "mqtt-codec", "broker"]),
    (
        "flow",
        &[
            "value",
            "rt",
            "sql",
            "functions",
            "expr",
            "plan",
            "ops",
            "formats",
            "template",
            "connect",
        ],
    ),
    (
        "server",
        &[
            "value",
            "rt",
            "sql",
            "functions",
            "expr",
            "plan",
            "formats",
            "template",
            "store",
            "connect",
            "flow",
            "broker",
            "mqtt-codec",
        ],
    ),
    ("cli", &[]),
    (
        "testkit",
        &["value", "rt", "sql", "functions", "expr", "plan", "ops", "formats", "connect", "flow"],
    ),
];

/// Libraries that may not be in a crate, and why.
const BANNED: &[(&str, &[&str], &str)] = &[
    ("connect", &["rekuiper-sql", "rekuiper-plan", "sqlparser"], "connectors never see SQL"),
    ("mqtt-codec", &["tokio"], "bytes in, packets out"),
    ("cli", &["tokio", "axum", "hyper", "reqwest"], "the tool is small and blocking"),
];

pub fn rule(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for name in tree.crates() {
        let path = format!("crates/{name}/Cargo.toml");
        let text = tree.get(&path).map_or("", |f| f.text.as_str());
        let Some((_, may)) = EDGES.iter().find(|(n, _)| *n == name) else {
            let says = "is in no line of the edge table in xtask/src/tidy/edges.rs: say what it \
                        may know";
            found.push(Finding::new(&path, 0, says));
            continue;
        };
        for (line, dependency) in dependencies(text) {
            let ours = dependency.strip_prefix("rekuiper-");
            if let Some(ours) = ours.filter(|ours| !may.contains(ours)) {
                let says = format!(
                    "{name} may not know {ours}: turn the call round, or move what both need down"
                );
                found.push(Finding::new(&path, line, says));
            }
            for (_, names, why) in BANNED.iter().filter(|(n, ..)| *n == name) {
                if names.contains(&dependency) {
                    found.push(Finding::new(&path, line, format!("{dependency}: {why}")));
                }
            }
        }
    }
    let generator = "test/benchmark/iiot-mqtt/mqttgen/Cargo.toml";
    for (line, dependency) in tree.get(generator).into_iter().flat_map(|f| dependencies(&f.text)) {
        let says = format!("{dependency}: a load generator shares no code with what it measures");
        found.push(Finding::new(generator, line, says));
    }
    found
}

/// Names in `[dependencies]` and in the same of a target, with their lines.
pub fn dependencies(manifest: &str) -> Vec<(usize, &str)> {
    in_sections(manifest, &["dependencies"])
}

/// The same with those of tests and of build scripts.
pub fn all_dependencies(manifest: &str) -> Vec<(usize, &str)> {
    in_sections(manifest, &["dependencies", "dev-dependencies", "build-dependencies"])
}

fn in_sections<'a>(manifest: &'a str, wanted: &[&str]) -> Vec<(usize, &'a str)> {
    let mut inside = false;
    let mut all = Vec::new();
    for (n, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            let last = section.rsplit('.').next().unwrap_or_default();
            inside = wanted.contains(&section)
                || (section.starts_with("target.") && wanted.contains(&last));
            if let Some((_, name)) = section.split_once('.').filter(|(s, _)| wanted.contains(s)) {
                all.push((n + 1, name));
            }
        } else if inside && !line.is_empty() && !line.starts_with('#') {
            let name = line.split(['=', '.', ' ']).next().unwrap_or_default();
            // a table over several lines goes on with `features = [...]` and the like
            if line.contains('=') && !name.is_empty() && !name.starts_with(['"', ']', '}']) {
                all.push((n + 1, name));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, manifest: &str) -> Vec<String> {
        let path = format!("crates/{name}/Cargo.toml");
        rule(&Tree::of(&[(&path, manifest)])).into_iter().map(|f| f.says).collect()
    }

    #[test]
    fn only_edges_of_the_table_pass() {
        let manifest = "[dependencies]\nrekuiper-value.workspace = true\n";
        assert!(found("functions", manifest).is_empty());
        assert!(found("sql", manifest)[0].contains("sql may not know value"));
        let dev = "[dev-dependencies]\nrekuiper-sql = { path = \"../sql\" }\n";
        assert!(found("functions", dev).is_empty());
    }

    #[test]
    fn unknown_crates_and_banned_libraries_are_told() {
        assert!(found("newcomer", "")[0].contains("edge table"));
        assert_eq!(found("cli", "[dependencies]\ntokio = \"1\"\n").len(), 1);
        assert_eq!(found("connect", "[dependencies.rekuiper-sql]\nworkspace = true\n").len(), 2);
    }

    #[test]
    fn the_table_has_no_circle() {
        for (i, (name, may)) in EDGES.iter().enumerate() {
            for known in *may {
                let at = EDGES.iter().position(|(n, _)| n == known);
                assert!(at.is_some_and(|at| at < i), "{name} knows {known}, which stands below");
            }
        }
    }

    #[test]
    fn the_generator_stays_alone() {
        let path = "test/benchmark/iiot-mqtt/mqttgen/Cargo.toml";
        let tree = Tree::of(&[(path, "# why\n[dependencies]\n# none\nserde = \"1\"\n")]);
        assert_eq!(rule(&tree).len(), 1);
    }
}
