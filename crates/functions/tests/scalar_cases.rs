//! The recorded cases of the scalar families: SQL and rows in, rows out.
//!
//! Statements are read by the real parser; the few kinds of expressions that the cases need are
//! computed by a small reader here, so that this crate can be tested without the engine. A case
//! that needs more (windows, LIKE, …) is left to the engine's own run over the same files.

mod reader;

use std::collections::BTreeMap;

use reader::{Stop, Unfit, check_calls, evaluate};
use rekuiper_functions::lookup;
use rekuiper_sql::{ExprKind, parse_expr, parse_select};
use rekuiper_value::{Object, Value, json};
use serde_json::Value as Json;

const FAMILIES: [&str; 11] = [
    "string",
    "math",
    "hashing",
    "transform",
    "datetime",
    "array",
    "object",
    "json",
    "other",
    "aggregate",
    "analytic",
];

fn cases(file: &str) -> Vec<Json> {
    let path = format!("{}/tests/cases/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    text.lines()
        .filter(|l| !l.trim().is_empty())
        .map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{path}: {e}")))
        .collect()
}

/// A row as the stream's decoder would give it: by declared types, or schemaless.
fn row(input: &Json, fields: &str) -> BTreeMap<String, Value> {
    let types: BTreeMap<&str, &str> = fields
        .split(',')
        .filter_map(|f| f.trim().split_once(' '))
        .collect();
    let mut out = BTreeMap::new();
    for (name, item) in input.as_object().expect("a row") {
        let schemaless = json::parse(item.to_string().as_bytes()).expect("JSON");
        let value = match (types.get(name.as_str()), &schemaless) {
            (Some(&"BIGINT"), Value::Float(f)) => Value::Int(*f as i64),
            (Some(&"BIGINT"), Value::Wide(i)) => Value::Int(*i),
            _ => schemaless,
        };
        out.insert(name.clone(), value);
    }
    out
}

/// As the conformance runner compares: numbers may differ in their last digits.
fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(x), Json::Number(y)) => {
            if let (Some(x), Some(y)) = (x.as_i64(), y.as_i64()) {
                return x == y;
            }
            let (x, y) = (
                x.as_f64().unwrap_or(f64::NAN),
                y.as_f64().unwrap_or(f64::NAN),
            );
            x == y || (x - y).abs() <= (1e-9 * x.abs().max(y.abs())).max(1e-12)
        }
        (Json::Array(x), Json::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y))
        }
        (Json::Object(x), Json::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(k, v)| y.get(k).is_some_and(|w| same(v, w)))
        }
        _ => a == b,
    }
}

/// What the rule emits, or why the case is not for this test.
fn run(case: &Json) -> Result<Vec<Json>, Unfit> {
    let sql = case["sql"].as_str().expect("sql");
    let select = parse_select(sql).map_err(|e| Unfit::Refused(e.to_string()))?;
    let streams = case["streams"].as_array().expect("streams");
    // times and counts of rows come from the engine
    let engine = ["last_hit_", "event_time(", "rule_start("]
        .iter()
        .any(|f| sql.contains(f));
    let simple = !engine
        && streams.len() == 1
        && streams[0].get("input").is_some()
        && select.where_.is_none()
        && select.group_by.is_empty()
        && select.joins.is_empty();
    if !simple {
        return Err(Unfit::Other);
    }
    for item in &select.items {
        check_calls(&item.expr)?;
    }
    let mut emitted = Vec::new();
    for input in streams[0]["input"].as_array().expect("input") {
        let row = row(input, streams[0]["fields"].as_str().unwrap_or(""));
        let mut out = Object::new();
        let mut lost = false;
        for item in &select.items {
            let name = item
                .alias
                .as_deref()
                .or(item.expr.natural_name())
                .unwrap_or("?");
            let plain = matches!(item.expr.kind, ExprKind::Column { .. }) && item.alias.is_none();
            match evaluate(&item.expr, &row) {
                Ok(Value::Missing) => {}
                Ok(Value::Null) if !plain => {}
                Ok(value) => {
                    out.insert(name.into(), value);
                }
                Err(Stop::Lost(_)) => lost = true,
                Err(Stop::Unfit) => return Err(Unfit::Other),
            }
        }
        let text = json::to_string(&Value::object(out));
        if let (false, Ok(text)) = (lost, text) {
            emitted.push(serde_json::json!([
                serde_json::from_str::<Json>(&text).expect("JSON")
            ]));
        }
    }
    Ok(emitted)
}

/// Runs a file; the number of cases that were for this test.
fn passes(file: &str) -> usize {
    let mut ran = 0;
    let mut failed = Vec::new();
    for case in cases(file) {
        let name = case["name"].as_str().unwrap_or("?").to_owned();
        let refused = case["error"] == Json::Bool(true);
        match run(&case) {
            Err(Unfit::Other) => continue,
            Err(Unfit::Refused(_)) if refused => ran += 1,
            Err(Unfit::Refused(why)) => failed.push(format!("{name}: refused: {why}")),
            Ok(_) if refused => failed.push(format!("{name}: accepted")),
            Ok(got) => {
                ran += 1;
                let want = &case["expect"];
                if !same(&Json::Array(got.clone()), want) {
                    failed.push(format!(
                        "{name}\n  want {want}\n  got  {}",
                        Json::Array(got)
                    ));
                }
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{file}: {} failed\n{}",
        failed.len(),
        failed.join("\n")
    );
    ran
}

macro_rules! files {
    ($($name:ident $least:literal),* $(,)?) => {
        $(#[test]
        fn $name() {
            let ran = passes(stringify!($name));
            assert!(ran >= $least, "only {ran} cases ran");
        })*
    };
}

files! {
    functions_string 156,
    functions_math 235,
    functions_hashing 45,
    functions_transform 84,
    functions_datetime 158,
    functions_array 139,
    functions_object 65,
    functions_json 74,
    functions_other 33,
    deviations_scalar 47,
}

/// Calls accepted and refused when a rule is made, for all functions of the scalar families.
#[test]
fn creation() {
    let mut ran = 0;
    let mut failed = Vec::new();
    for case in cases("creation")
        .into_iter()
        .chain(cases("creation_deviations"))
    {
        let Some(sql) = case["sql"].as_str() else {
            continue;
        };
        let word = sql
            .strip_prefix("SELECT ")
            .and_then(|s| s.split_once('('))
            .map(|(f, _)| f);
        let Some(def) = word
            .and_then(lookup)
            .filter(|d| FAMILIES.contains(&d.family))
        else {
            continue;
        };
        let Ok(select) = parse_select(sql) else {
            continue;
        };
        ran += 1;
        let accepted = select.items.iter().try_for_each(|i| check_calls(&i.expr));
        let want = case["accept"] == Json::Bool(true);
        if matches!(accepted, Err(Unfit::Other)) {
            continue;
        }
        if accepted.is_ok() != want {
            failed.push(format!(
                "{sql} ({}): want {want}, got {accepted:?}",
                def.name
            ));
        }
    }
    assert!(
        failed.is_empty(),
        "{} failed\n{}",
        failed.len(),
        failed.join("\n")
    );
    assert!(ran > 300, "only {ran} ran");
}

/// The example of each function gives what its documentation says.
#[test]
fn examples() {
    let mut shown = 0;
    for def in rekuiper_functions::all() {
        let (text, want) = def.example;
        if text.is_empty() {
            continue;
        }
        let expr = parse_expr(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let got = match evaluate(&expr, &BTreeMap::new()) {
            Ok(value) => json::to_string(&value).unwrap_or_else(|e| e.to_string()),
            Err(Stop::Lost(why)) => why,
            Err(Stop::Unfit) => continue,
        };
        assert_eq!(got, want, "{text}");
        shown += 1;
    }
    assert!(shown > 80, "only {shown} examples");
}

/// Names are unique, and all is said that the reference pages need.
#[test]
fn definitions_are_whole() {
    let mut names = std::collections::BTreeSet::new();
    for def in rekuiper_functions::all() {
        for name in std::iter::once(&def.name).chain(def.aliases) {
            assert!(names.insert(*name), "{name} is there twice");
            assert_eq!(lookup(&name.to_uppercase()).map(|d| d.name), Some(def.name));
        }
        assert!(
            !def.doc.is_empty() && !def.family.is_empty(),
            "{}",
            def.name
        );
        let optional = def.args.iter().map(|a| a.optional).collect::<Vec<_>>();
        assert!(
            optional.is_sorted(),
            "{}: optional arguments come last",
            def.name
        );
    }
    for word in ["ceil", "pow", "day", "regexp_substring", "mod", "now"] {
        assert!(lookup(word).is_some(), "{word}");
    }
}
