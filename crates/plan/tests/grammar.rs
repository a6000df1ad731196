//! Every recorded statement is accepted or refused as recorded.

mod support;

use support::{cases, plan, statement};

/// Recorded cases that another one contradicts: text after the semicolon is refused, says
/// `deviations_grammar` (it would be lost without a word).
const CONTRADICTED: &[&str] = &["expressions/text_after_semicolon_ignored"];

/// How many cases were looked at; those about other things (DDL, graphs) are left aside.
fn run(file: &str, jsonl: &str, default_type: &str, at_least: usize) {
    let (mut passed, mut failed) = (0, Vec::new());
    for case in cases(jsonl) {
        if case.get("sql").is_none() && case.get("sql_parts").is_none() {
            continue;
        }
        if CONTRADICTED.iter().any(|name| case["name"] == *name) {
            continue;
        }
        let planned = plan(&case, default_type);
        let want = case["accept"].as_bool();
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
fn answers() {
    run("answers", include_str!("cases/answers.jsonl"), "file", 1800);
}
