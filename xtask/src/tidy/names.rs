//! Operators never see a connector's name: what a rule computes cannot depend on where rows come
//! from or go to.

use super::Finding;
use super::tree::Tree;

/// Connectors whose names are no ordinary words.
const CONNECTORS: &[&str] = &[
    "mqtt",
    "http",
    "httppull",
    "httppush",
    "websocket",
    "kafka",
    "redis",
    "redissub",
    "neuron",
    "edgex",
    "zmq",
    "tdengine",
    "influx",
    "influx2",
    "sse",
    "simulator",
];

const ROOMS: &[&str] = &["ops", "expr"];

pub fn rule(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in ROOMS.iter().flat_map(|room| tree.sources(room)) {
        for (n, line) in file.code() {
            if line.trim_start().starts_with("//") {
                continue;
            }
            let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            let mut names = words.filter(|w| CONNECTORS.contains(&w.to_lowercase().as_str()));
            // documentation in strings speaks of addresses
            if let Some(name) = names.find(|w| !line.contains(&format!("{w}://"))) {
                let says = format!("{name}: operators know no connectors");
                found.push(Finding::new(&file.path, n, says));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connector_in_an_operator_is_found() {
        let text = "// mqtt in a comment\nif kind == \"mqtt\" {}\nlet u = \"http://x\";\n";
        let tree = Tree::of(&[("crates/ops/src/a.rs", text), ("crates/connect/src/a.rs", text)]);
        let found = rule(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 2);
    }
}
