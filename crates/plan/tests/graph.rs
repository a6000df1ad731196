//! Graph rules: accepted and refused as recorded, and what is planned for them.

mod support;

use rekuiper_plan::physical::Stage;
use rekuiper_plan::{RuleOptions, plan_graph};
use serde_json::{Value, json};
use support::{Streams, cases, options};

/// A whole rule as POST /rules takes it, as far as it has to do with the graph.
fn accepts(case: &Value) -> Result<usize, String> {
    let streams = Streams::of(case, "memory")?;
    let rule = &case["rule"];
    let plan = plan_graph(&rule["graph"], &streams, &options(rule)).map_err(|e| e.to_string())?;
    Ok(plan.chains.len())
}

fn run(jsonl: &str, at_least: usize) {
    let (mut passed, mut failed) = (0, Vec::new());
    for case in cases(jsonl) {
        // rules with sql are not of this crate
        let of_graph = case["rule"].get("graph").is_some() && case["rule"].get("sql").is_none();
        if !of_graph {
            continue;
        }
        let got = accepts(&case);
        if case["accept"].as_bool().is_none_or(|w| w == got.is_ok()) {
            passed += 1;
        } else {
            failed.push(format!(
                "{} want {}: {got:?}\n  {}",
                case["name"], case["accept"], case["rule"]["graph"]
            ));
        }
    }
    println!("graph: {passed} passed, {} failed", failed.len());
    assert!(
        failed.is_empty(),
        "{} failed\n{}",
        failed.len(),
        failed.join("\n")
    );
    assert!(passed >= at_least, "only {passed} cases");
}

#[test]
fn recorded_graphs() {
    run(include_str!("cases/graph.jsonl"), 100);
}

#[test]
fn recorded_deviations() {
    run(include_str!("cases/deviations_grammar.jsonl"), 1);
}

fn graph(operators: Value, edges: Value) -> Value {
    let mut nodes = json!({
        "in": {"type": "source", "nodeType": "memory", "props": {"datasource": "g"}},
        "out": {"type": "sink", "nodeType": "nop", "props": {}},
    });
    for (name, node) in operators.as_object().expect("operators") {
        nodes[name] = json!({"type": "operator", "nodeType": node[0], "props": node[1]});
    }
    json!({"nodes": nodes, "topo": {"sources": ["in"], "edges": edges}})
}

/// Stages and items of each chain.
fn told(graph: &Value) -> Vec<String> {
    let plan = plan_graph(graph, &Streams::default(), &RuleOptions::default())
        .unwrap_or_else(|e| panic!("{e}"));
    plan.chains
        .iter()
        .map(|c| {
            let stages: Vec<String> = c
                .plan
                .stages
                .iter()
                .map(|s| match &s.stage {
                    Stage::Filter(e) => format!("filter {e:?}"),
                    Stage::Having(e) => format!("having {e:?}"),
                    Stage::Window(w) => format!("window filter {:?}", w.filter),
                    Stage::WindowAggregate(w, a) => {
                        format!("inc window filter {:?} by {:?}", w.filter, a.dimensions)
                    }
                    _ => s.node.to_string(),
                })
                .collect();
            let names: Vec<&str> = c
                .plan
                .projection
                .items
                .iter()
                .map(|i| i.name().map_or("*", |n| n.as_str()))
                .collect();
            format!("{} | {}", stages.join("; "), names.join(" "))
        })
        .collect()
}

#[test]
fn computed_columns_are_known_to_later_nodes() {
    let ops = json!({
        "f": ["function", {"expr": "abs(t) AS t"}],
        "w": ["filter", {"expr": "t > 3"}],
        "p": ["pick", {"fields": ["t", "a AS b"]}],
    });
    let edges = json!({"in": ["f"], "f": ["w"], "w": ["p"], "p": ["out"]});
    assert_eq!(told(&graph(ops, edges)), ["filter abs($0) > 3 | t b"]);
}

#[test]
fn a_switch_that_stops_at_the_first_match() {
    let ops = json!({"s": ["switch", {"cases": ["a > 1", "a > 0"], "stopAtFirstMatch": true}]});
    let edges = json!({"in": ["s"], "s": [["out"], ["out"]]});
    let got = told(&graph(ops, edges));
    assert_eq!(
        got,
        [
            "filter $0 > 1 | *",
            "filter CASE WHEN $0 > 1 THEN false ELSE $0 > 0 END | *"
        ]
    );
}

#[test]
fn filters_before_the_window_in_it_and_of_groups() {
    let ops = json!({
        "f": ["filter", {"expr": "v > 0"}],
        "w": ["window", {"type": "tumblingwindow", "unit": "ss", "size": 10}],
        "g": ["groupby", {"dimensions": ["k"]}],
        "a": ["aggfunc", {"expr": "sum(v) AS s"}],
        "h": ["filter", {"expr": "s > 5"}],
        "p": ["pick", {"fields": ["k", "s"], "isAgg": true}],
    });
    let edges = json!({
        "in": ["f"], "f": ["w"], "w": ["g"], "g": ["a"], "a": ["h"], "h": ["p"], "p": ["out"],
    });
    assert_eq!(
        told(&graph(ops, edges)),
        ["inc window filter Some($0 > 0) by [$1]; having $2 > 5 | k s"]
    );
}

#[test]
fn a_column_that_was_not_picked_is_null() {
    let ops = json!({
        "p": ["pick", {"fields": ["a", "b"]}],
        "f": ["filter", {"expr": "a > 1 AND zz = 2"}],
    });
    let edges = json!({"in": ["p"], "p": ["f"], "f": ["out"]});
    assert_eq!(
        told(&graph(ops, edges)),
        ["filter ($0 > 1) AND (CASE WHEN false THEN 0 END = 2) | a b"]
    );
}
