//! Every recorded statement is accepted or refused as recorded.

mod support;

use support::{cases, plan, statement};

/// Recorded cases that are left aside here.
const ASIDE: &[&str] = &[
    // contradicted by deviations_grammar: such text would be lost without a word
    "text_after_semicolon_ignored",
    // about the JSON of options
    "option_bad_type_refused",
];

/// How many cases were looked at; those about other things (DDL, graphs) are left aside.
fn run(file: &str, jsonl: &str, default_type: &str, at_least: usize) {
    let (mut passed, mut failed) = (0, Vec::new());
    for case in cases(jsonl) {
        if case.get("sql").is_none() && case.get("sql_parts").is_none() {
            continue;
        }
        // what is wrong with a sink is not for the plan to say
        if case.get("sink").is_some() && case["error"] == true {
            continue;
        }
        if ASIDE.iter().any(|name| case["name"] == *name) {
            continue;
        }
        let planned = plan(&case, default_type);
        // cases with answers say where there is none instead
        let want = match case.get("accept") {
            Some(accept) => accept.as_bool(),
            None => Some(case["error"] != true),
        };
        if want.is_none_or(|w| w == planned.is_ok()) {
            passed += 1;
            continue;
        }
        let sql: String = statement(&case).chars().take(300).collect();
        let said = planned.err().unwrap_or_else(|| "accepted".to_owned());
        failed.push(format!(
            "{} (want accept {want:?}): {sql}\n    {said}",
            case["name"]
        ));
    }
    println!("{file}: {passed} passed, {} failed", failed.len());
    assert!(
        failed.is_empty(),
        "{file}: {} failed\n{}",
        failed.len(),
        failed.join("\n")
    );
    assert!(passed >= at_least, "{file}: only {passed} cases");
}

#[test]
fn select() {
    run("select", include_str!("cases/select.jsonl"), "memory", 800);
}

#[test]
fn functions() {
    run(
        "functions",
        include_str!("cases/functions.jsonl"),
        "memory",
        890,
    );
}

#[test]
fn deviations() {
    run(
        "deviations",
        include_str!("cases/deviations_grammar.jsonl"),
        "memory",
        72,
    );
}

#[test]
fn superset() {
    run(
        "superset",
        include_str!("cases/superset.jsonl"),
        "memory",
        7,
    );
}

/// Rules whose answers are recorded: all must be planned, but those that are refused.
#[test]
fn rules_with_answers() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/sql");
    let mut files = 0;
    for entry in std::fs::read_dir(dir).expect("the recorded cases") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "jsonl") {
            let text = std::fs::read_to_string(&path).expect("a file of cases");
            run(&path.display().to_string(), &text, "file", 10);
            files += 1;
        }
    }
    assert!(files >= 20, "only {files} files in {dir}");
}
