//! The recorded SELECT cases: what is to be accepted must parse; of what is to be refused, the
//! parser catches its share and the plan the rest (names, functions, aggregates, rule options).

mod support;

use rekuiper_sql::{parse_select, parse_statement};
use support::{Case, cases};

/// Cases refused by the parser alone, and the names of those it leaves to the plan.
fn run(all: Vec<Case>) -> (usize, Vec<String>) {
    let (mut refused, mut left) = (0, Vec::new());
    let mut wrong = Vec::new();
    for case in all {
        let Some(sql) = case.text("sql") else {
            continue;
        };
        match (parse_select(&sql), case.accept()) {
            (Ok(select), Some(true)) => {
                let printed = select.to_string();
                match parse_select(&printed) {
                    Ok(again) if again == select => {}
                    Ok(_) => wrong.push(format!("{}: differs when printed: {printed}", case.name)),
                    Err(e) => wrong.push(format!("{}: {}", case.name, e.render(&printed))),
                }
            }
            (Err(e), Some(true)) => {
                let text: String = e.render(&sql).chars().take(500).collect();
                wrong.push(format!("{}: {text}", case.name));
            }
            (Err(e), Some(false)) => {
                refused += 1;
                assert!(!e.message.is_empty(), "{}", case.name);
                assert!(e.render(&sql).contains('^'), "{}", case.name);
            }
            (Ok(_), Some(false)) => left.push(case.name),
            (_, None) => {}
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    (refused, left)
}

#[test]
fn select_cases_as_recorded() {
    let (refused, left) = run(cases(include_str!("cases/select.jsonl")));
    println!(
        "{refused} refused by the parser, {} left to the plan:\n{left:?}",
        left.len()
    );
    // A family that is purely a matter of syntax must be refused here without exception.
    let syntax = [
        "lit_",
        "reserved_",
        "comment_",
        "op_",
        "case_",
        "limit_",
        "order_",
    ];
    let missed: Vec<&String> = left
        .iter()
        .filter(|n| syntax.iter().any(|s| n.starts_with(s)))
        .collect();
    assert!(missed.is_empty(), "{missed:?}");
    assert!(refused >= 296, "only {refused} are refused by the parser");
}

#[test]
fn select_deviations_as_they_ought_to_be() {
    let (refused, left) = run(cases(include_str!("cases/deviations_grammar.jsonl")));
    println!(
        "{refused} refused by the parser, {} left to the plan:\n{left:?}",
        left.len()
    );
    assert!(refused >= 36, "only {refused} are refused by the parser");
}

#[test]
fn superset_is_accepted() {
    let all = cases(include_str!("cases/superset.jsonl"));
    assert_eq!(all.len(), 7);
    let (refused, left) = run(all);
    assert_eq!((refused, left.len()), (0, 0));
}

#[test]
fn a_select_is_a_statement_too() {
    assert!(parse_statement("SELECT a FROM s").is_ok());
    assert!(parse_select("SHOW STREAMS").is_err());
}
