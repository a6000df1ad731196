//! Recorded answers of rules without windows: the planned expressions, run row by row, give them.

mod support;

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use rekuiper_expr::{Env, Expr, Frame, truth};
use rekuiper_functions::{Cx, NoHost, RowTimes};
use rekuiper_plan::Planned;
use rekuiper_plan::physical::{OutItem, OutNulls, Stage};
use rekuiper_value::{Column, Field, Object, Result, Str, Value, json};
use support::{cases, plan};

/// Beginnings of the names of cases about declared types.
const OF_THE_DECODER: &[&str] = &[
    "typed_bigint_m",
    "typed_float_m",
    "typed_string_m",
    "typed_boolean_m",
    "typed_bytea_m",
    "typed_datetime_m",
    "typed_array_of",
    "typed_struct_m",
    "typed_nested",
    "bytea_column",
];

type Json = serde_json::Value;

/// The columns of one input row, as a decoder gives them.
fn columns(planned: &Planned, case: &Json, row: &Json) -> Vec<Column> {
    let types = declared(case["streams"][0]["fields"].as_str().unwrap_or(""));
    let read = |name: &str| -> Value {
        let Some(json) = row.get(name) else {
            return Value::Missing;
        };
        match types.get(name).map(String::as_str) {
            Some("FLOAT") => json.as_f64().map_or(Value::Null, Value::Float),
            Some(t) => json::from_serde(json, t.contains("BIGINT")),
            None if types.is_empty() => json::from_serde(json, false),
            None => Value::Missing,
        }
    };
    let whole = || {
        let names = row.as_object().into_iter().flat_map(|o| o.keys());
        let known = names.map(|n| (Str::from(n.as_str()), read(n)));
        Value::object(known.filter(|(_, v)| !v.is_missing()).collect::<Object>())
    };
    let source = &planned.plan.sources[0];
    source
        .fields
        .iter()
        .map(|field| match field {
            Field::Named(name) => read(name),
            Field::Whole => whole(),
            _ => Value::Missing,
        })
        .map(|v| Column::values(vec![v]))
        .collect()
}

/// Column names and types of a DDL field list.
fn declared(fields: &str) -> BTreeMap<String, String> {
    let (mut depth, mut parts, mut part) = (0, Vec::new(), String::new());
    for c in fields.chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if c == ',' && depth == 0 {
            parts.push(std::mem::take(&mut part));
        } else {
            part.push(c);
        }
    }
    parts.push(part);
    let pair = |p: &String| {
        p.trim()
            .split_once(' ')
            .map(|(n, t)| (n.to_owned(), t.to_owned()))
    };
    parts.iter().filter_map(pair).collect()
}

fn project(planned: &Planned, env: Env<'_>) -> Result<Object> {
    let mut out = Object::new();
    for item in &planned.plan.projection.items {
        match item {
            OutItem::Field { name, expr, nulls } => {
                let value = expr.eval(env, 0)?;
                let put = match (nulls, &value) {
                    (OutNulls::AsPresent, Value::Missing) => false,
                    (OutNulls::AsPresent | OutNulls::Keep, _) => true,
                    (OutNulls::LeaveOut, v) => !v.is_null(),
                };
                if put {
                    out.insert(name.clone(), value);
                }
            }
            OutItem::Const { name, value } => {
                out.insert(name.clone(), value.clone());
            }
            OutItem::Row(parts) => {
                if let Value::Object(o) = Expr::Row(parts.clone()).eval(env, 0)? {
                    out.extend(o.iter().map(|(k, v)| (k.clone(), v.clone())));
                }
            }
            OutItem::Spread { .. } | OutItem::Members(_) => {}
        }
    }
    Ok(out)
}

/// What the rule gives for one row; none where it is filtered out or lost.
fn result(planned: &Planned, case: &Json, row: &Json) -> Option<Json> {
    let columns = columns(planned, case, row);
    let frame = Frame::new(&columns, 1);
    let zone = TimeZone::UTC;
    let cx = Cx {
        now_ms: 1_700_000_000_000,
        rule_id: "r",
        rule_start: 1_700_000_000_000,
        zone: &zone,
        row: RowTimes::default(),
        host: &NoHost,
    };
    let env = Env {
        frame: &frame,
        cx: &cx,
    };
    for step in &planned.plan.stages {
        if let Stage::Filter(condition) = &step.stage
            && !truth(condition, env, 0).unwrap_or(false)
        {
            return None;
        }
    }
    let mut text = Vec::new();
    json::write_object(&mut text, &project(planned, env).ok()?).ok()?;
    Some(serde_json::from_slice(&text).expect("the writer writes JSON"))
}

fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a.as_i64().zip(b.as_i64()).map_or_else(
            || {
                let (a, b) = (a.as_f64().unwrap_or(0.0), b.as_f64().unwrap_or(1.0));
                (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-3)
            },
            |(a, b)| a == b,
        ),
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| same(v, w)))
        }
        _ => a == b,
    }
}

fn run(file: &str, text: &str, at_least: usize) {
    let (mut passed, mut failed) = (0, Vec::new());
    for case in cases(text) {
        let stream = &case["streams"][0];
        let simple = case["streams"].as_array().is_some_and(|s| s.len() == 1)
            && stream.get("with").is_none()
            && case.get("options").is_none()
            && case["error"] != true;
        let Some(input) = stream["input"].as_array().filter(|_| simple) else {
            continue;
        };
        let Ok(planned) = plan(&case, "file") else {
            continue;
        };
        // what becomes of values of another type than declared is the decoder's business
        if OF_THE_DECODER
            .iter()
            .any(|n| case["name"].as_str().is_some_and(|c| c.starts_with(n)))
        {
            continue;
        }
        let plain = |s: &Stage| matches!(s, Stage::Filter(_));
        if !planned.plan.stages.iter().all(|s| plain(&s.stage)) || planned.plan.uses_row_context {
            continue;
        }
        let want: Vec<&Json> = case["expect"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|e| &e[0])
            .collect();
        let got: Vec<Json> = input
            .iter()
            .filter_map(|row| result(&planned, &case, row))
            .collect();
        if got.len() == want.len() && got.iter().zip(&want).all(|(g, w)| same(g, w)) {
            passed += 1;
        } else {
            let (want, got) = (Json::from_iter(want.into_iter().cloned()), Json::from(got));
            failed.push(format!(
                "{} {}\n  in   {}\n  want {want}\n  got  {got}",
                case["name"], case["sql"], stream["input"]
            ));
        }
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
fn operators() {
    run("operators", include_str!("rows/operators.jsonl"), 140);
}

#[test]
fn expressions() {
    run("expressions", include_str!("rows/expressions.jsonl"), 100);
}

#[test]
fn superset() {
    run("superset", include_str!("rows/superset.jsonl"), 12);
}

#[test]
fn deviations() {
    run(
        "deviations_scalar",
        include_str!("rows/deviations_scalar.jsonl"),
        50,
    );
}
