//! What lies below the flow is pure: no tasks, no sockets, no files, no clock. Time comes in as an
//! argument, so that a test can turn it by hand.

use super::Finding;
use super::edges::dependencies;
use super::tree::Tree;

const PURE: &[&str] =
    &["value", "sql", "functions", "expr", "plan", "ops", "formats", "template", "mqtt-codec"];

/// Text that must not stand there, and what to do instead.
const BANNED: &[(&str, &str)] = &[
    ("tokio", "tasks and sockets belong to rt, connect, flow and server"),
    ("SystemTime", "take `now` as an argument"),
    ("Instant::now", "take `now` as an argument"),
    ("time::Instant", "take `now` as an argument"),
    ("Timestamp::now", "take `now` as an argument"),
    ("Zoned::now", "take `now` as an argument"),
    ("std::net", "sockets belong to connect and broker"),
    ("std::fs", "files belong to connect, store and server"),
    ("thread::sleep", "nothing here waits"),
    ("thread::spawn", "tasks belong to rt"),
];

/// Where one of them has to be, and why.
const ALLOWED: &[(&str, &str, &str)] = &[];

pub fn rule(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for name in PURE {
        for file in tree.sources(name) {
            for (n, line) in file.code() {
                if line.trim_start().starts_with("//") {
                    continue;
                }
                for (banned, instead) in BANNED.iter().filter(|(b, _)| line.contains(b)) {
                    if ALLOWED.iter().any(|(p, b, _)| *p == file.path && b == banned) {
                        continue;
                    }
                    let says = format!("{banned} in {name}, which is pure: {instead}");
                    found.push(Finding::new(&file.path, n, says));
                }
            }
        }
        let path = format!("crates/{name}/Cargo.toml");
        let manifest = tree.get(&path).map_or("", |f| f.text.as_str());
        for (line, _) in dependencies(manifest).into_iter().filter(|(_, d)| *d == "tokio") {
            found.push(Finding::new(&path, line, format!("{name} is pure: no tokio")));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_below_the_flow_is_found_and_one_in_a_test_is_not() {
        let bad = "// tokio is not here\nlet t = Instant::now();\n";
        let test = "#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
        let tree = Tree::of(&[
            ("crates/ops/src/a.rs", bad),
            ("crates/ops/src/b.rs", test),
            ("crates/flow/src/c.rs", bad),
            ("crates/value/Cargo.toml", "[dependencies]\ntokio.workspace = true\n"),
        ]);
        let places: Vec<(String, usize)> =
            rule(&tree).into_iter().map(|f| (f.path, f.line)).collect();
        let want = [("crates/value/Cargo.toml", 2), ("crates/ops/src/a.rs", 2)];
        assert_eq!(places, want.map(|(p, l)| (p.to_string(), l)));
    }
}
