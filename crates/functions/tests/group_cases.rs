//! The recorded cases of aggregates and of functions over earlier rows, as far as they need nothing
//! but the functions: count windows without grouping, and rules without a window.
//!
//! Statements are read by the real parser; arguments are computed by the small reader of the
//! scalar cases. What needs more (GROUP BY, HAVING, time windows, WHERE) is the engine's to run.

#[allow(dead_code)] // it serves several tests, each of which needs but a part
mod reader;

use std::collections::BTreeMap;

use reader::{Stop, evaluate};
use rekuiper_functions::analytic::had_changed_star;
use rekuiper_functions::multi::{Unnested, extract_columns, unnest_rows};
use rekuiper_functions::{Accumulator, Analytic, FunctionDef, Kind, lookup};
use rekuiper_sql::{Call, Expr, ExprKind, Item, Select, WindowKind, parse_select};
use rekuiper_value::{Object, Value, json};
use serde_json::Value as Json;

type Row = BTreeMap<String, Value>;

/// Why a case gives no answer here.
enum No {
    /// It needs the engine.
    Fit,
    /// The emission is lost.
    Lost,
}

impl From<Stop> for No {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Lost(_) => No::Lost,
            Stop::Unfit => No::Fit,
        }
    }
}

fn lost<T>(answer: rekuiper_value::Result<T>) -> Result<T, No> {
    answer.map_err(|_| No::Lost)
}

fn cases(file: &str) -> Vec<Json> {
    let path = format!("{}/tests/cases/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    text.lines()
        .map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{path}: {e}")))
        .collect()
}

/// A row as the decoder gives it: BIGINT columns as integers, the rest schemaless.
fn row(input: &Json, fields: &str) -> Row {
    let bigints: Vec<&str> = fields
        .split(',')
        .filter_map(|f| f.trim().strip_suffix(" BIGINT"))
        .collect();
    let members = input.as_object().expect("a row");
    let value = |name: &str, item: &Json| {
        let value = json::parse(item.to_string().as_bytes()).expect("JSON");
        match value {
            Value::Float(f) if bigints.contains(&name) => Value::Int(f as i64),
            other => other,
        }
    };
    members
        .iter()
        .map(|(k, v)| (k.clone(), value(k, v)))
        .collect()
}

fn whole(row: &Row) -> Value {
    Value::object(
        row.iter()
            .map(|(k, v)| (k.as_str().into(), v.clone()))
            .collect(),
    )
}

fn pair(name: &str, value: Value) -> Value {
    Value::array(vec![Value::from(name), value])
}

fn call_of(expr: &Expr) -> Option<(&Call, &'static FunctionDef)> {
    match &expr.kind {
        ExprKind::Call(call) => lookup(&call.name).map(|def| (call, def)),
        _ => None,
    }
}

fn is_star(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Star(_))
}

/// The arguments as the module docs of `aggregate` and `analytic` promise them; `row` holds aliases
/// beside the stream's `own` columns.
fn arguments(call: &Call, def: &FunctionDef, row: &Row, own: &Row) -> Result<Vec<Value>, No> {
    let mut out = Vec::new();
    if def.name == "deduplicate" {
        out.push(whole(own));
    }
    let starred = call.args.iter().any(is_star);
    let pairs = def.name == "changed_cols" || def.name == "had_changed" && starred;
    let flags = if def.name == "changed_cols" { 2 } else { 1 };
    for (at, arg) in call.args.iter().enumerate() {
        match arg {
            star if is_star(star) && pairs => {
                out.extend(own.iter().map(|(k, v)| pair(k, v.clone())));
            }
            star if is_star(star) => out.push(whole(own)),
            arg if pairs && at >= flags => {
                out.push(pair(arg.natural_name().unwrap_or(""), evaluate(arg, row)?));
            }
            arg => out.push(evaluate(arg, row)?),
        }
    }
    Ok(out)
}

fn name_of(item: &Item) -> Result<String, No> {
    item.alias
        .as_deref()
        .or(item.expr.natural_name())
        .map(str::to_owned)
        .ok_or(No::Fit)
}

/// One emission of a count window.
fn group(select: &Select, rows: &[Row]) -> Result<Object, No> {
    let mut out = Object::new();
    for item in &select.items {
        let name = name_of(item)?;
        let Some((call, def)) = call_of(&item.expr) else {
            let ExprKind::Column { .. } = item.expr.kind else {
                return Err(No::Fit);
            };
            let value = evaluate(&item.expr, &rows[0])?;
            if !value.is_missing() {
                out.insert(name.as_str().into(), value);
            }
            continue;
        };
        let Kind::Aggregate { new, .. } = def.kind else {
            return Err(No::Fit);
        };
        let mut state: Box<dyn Accumulator> = new();
        for row in rows {
            lost(state.add(&arguments(call, def, row, row)?))?;
            let kept = state.save();
            state = new();
            state.load(&kept);
        }
        let value = lost(state.finish())?;
        if !value.is_null() {
            out.insert(name.as_str().into(), value);
        }
    }
    Ok(out)
}

/// The states of a rule's analytic calls, by item and partition.
type States = BTreeMap<(usize, String), Box<dyn Analytic>>;

/// What one row of a rule without a window gives; several rows for unnest.
fn single(select: &Select, states: &mut States, own: &Row) -> Result<Vec<Object>, No> {
    let mut row = own.clone();
    let mut out = Object::new();
    let mut unnested: Option<(String, Vec<Unnested>)> = None;
    let mut extracted = None;
    let mut failed = false;
    for (at, item) in select.items.iter().enumerate() {
        let Some((call, def)) = call_of(&item.expr) else {
            let value = evaluate(&item.expr, &row)?;
            if let Some(alias) = &item.alias {
                row.insert(alias.to_string(), value.clone());
            }
            let plain = matches!(item.expr.kind, ExprKind::Column { .. }) && item.alias.is_none();
            if !value.is_null() || plain && !value.is_missing() {
                out.insert(name_of(item)?.as_str().into(), value);
            }
            continue;
        };
        if matches!(def.kind, Kind::MultiRow) {
            let value = evaluate(&call.args[0], &row)?;
            if def.name == "unnest" {
                unnested = Some((name_of(item)?, unnest_rows(&value).collect()));
            } else {
                extracted = Some(lost(extract_columns(&value))?);
            }
            continue;
        }
        let new = match def.kind {
            Kind::Analytic(_) if call.args.iter().any(is_star) => had_changed_star,
            Kind::Analytic(new) | Kind::MultiColumn(new) => new,
            _ => return Err(No::Fit),
        };
        let over = call.over.clone().unwrap_or_default();
        let mut partition = String::new();
        for key in &over.partition {
            partition.push_str(&format!("{:?},", evaluate(key, &row)?));
        }
        let when = match &over.when {
            Some(when) => evaluate(when, &row)?.as_bool() == Some(true),
            None => true,
        };
        let args = arguments(call, def, &row, own)?;
        let state = states.entry((at, partition)).or_insert_with(new);
        let answer = if when {
            state.push(&args)
        } else {
            state.skip(&args)
        };
        let kept = state.save();
        *state = new();
        state.load(&kept);
        if let (Some(alias), Ok(value)) = (&item.alias, &answer) {
            row.insert(alias.to_string(), value.clone());
        }
        match answer {
            Ok(Value::Object(columns)) if matches!(def.kind, Kind::MultiColumn(_)) => {
                out.extend(columns.iter().map(|(k, v)| (k.clone(), v.clone())));
            }
            Ok(value) if value.is_null() => {}
            Ok(value) => {
                out.insert(name_of(item)?.as_str().into(), value);
            }
            Err(_) => failed = true,
        }
    }
    if failed {
        return Err(No::Lost);
    }
    if let Some(columns) = extracted {
        return Ok(columns.into_iter().map(|c| with(&out, &c)).collect());
    }
    Ok(match unnested {
        None => vec![out],
        Some((name, rows)) => rows
            .into_iter()
            .map(|made| match made {
                Unnested::Columns(columns) => with(&out, &columns),
                Unnested::Item(value) => with(&out, &Object::from([(name.as_str().into(), value)])),
            })
            .collect(),
    })
}

fn with(out: &Object, columns: &Object) -> Object {
    out.iter()
        .chain(columns)
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect()
}

/// Length of the count window; None without a window.
fn count_window(select: &Select) -> Result<Option<usize>, No> {
    let [only] = select.group_by.as_slice() else {
        return if select.group_by.is_empty() {
            Ok(None)
        } else {
            Err(No::Fit)
        };
    };
    match &only.kind {
        ExprKind::Window(w)
            if w.kind == WindowKind::Count && w.filter.is_none() && w.over_when.is_none() =>
        {
            match w.args.as_slice() {
                [arg] => match arg.kind {
                    ExprKind::Int(n) if n > 0 => Ok(Some(n as usize)),
                    _ => Err(No::Fit),
                },
                _ => Err(No::Fit),
            }
        }
        _ => Err(No::Fit),
    }
}

fn run(case: &Json) -> Result<Vec<Json>, No> {
    let select = parse_select(case["sql"].as_str().expect("sql")).map_err(|_| No::Fit)?;
    let streams = case["streams"].as_array().expect("streams");
    let simple = streams.len() == 1
        && streams[0].get("input").is_some()
        && case.get("options").is_none()
        && case.get("sink").is_none()
        && streams[0].get("with").is_none()
        && select.where_.is_none()
        && select.having.is_none()
        && select.order_by.is_empty()
        && select.limit.is_none()
        && select.joins.is_empty();
    if !simple || case["error"] == Json::Bool(true) {
        return Err(No::Fit);
    }
    let fields = streams[0]["fields"].as_str().unwrap_or("");
    let rows: Vec<Row> = streams[0]["input"]
        .as_array()
        .expect("input")
        .iter()
        .map(|r| row(r, fields))
        .collect();
    let mut emitted = Vec::new();
    match count_window(&select)? {
        Some(n) => {
            for rows in rows.chunks_exact(n) {
                match group(&select, rows) {
                    Ok(out) => emitted.extend(shown(out)),
                    Err(No::Lost) => {}
                    Err(No::Fit) => return Err(No::Fit),
                }
            }
        }
        None => {
            let mut states = States::new();
            for row in &rows {
                match single(&select, &mut states, row) {
                    Ok(rows) => emitted.extend(rows.into_iter().filter_map(shown)),
                    Err(No::Lost) => {}
                    Err(No::Fit) => return Err(No::Fit),
                }
            }
        }
    }
    Ok(emitted)
}

/// None where a value has no JSON form: the emission is lost.
fn shown(out: Object) -> Option<Json> {
    let text = json::to_string(&Value::object(out)).ok()?;
    Some(serde_json::json!([
        serde_json::from_str::<Json>(&text).expect("JSON")
    ]))
}

fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(x), Json::Number(y)) => {
            let (x, y) = (
                x.as_f64().unwrap_or(f64::NAN),
                y.as_f64().unwrap_or(f64::NAN),
            );
            (x - y).abs() <= 1e-12 * x.abs().max(y.abs())
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

fn passes(file: &str, least: usize) {
    let mut ran = 0;
    let mut failed = Vec::new();
    for case in cases(file) {
        let Ok(got) = run(&case) else { continue };
        ran += 1;
        let (want, got) = (&case["expect"], Json::Array(got));
        if !same(&got, want) {
            failed.push(format!("{}\n  want {want}\n  got  {got}", case["name"]));
        }
    }
    assert!(
        failed.is_empty(),
        "{file}: {} failed\n{}",
        failed.len(),
        failed.join("\n")
    );
    assert!(ran >= least, "{file}: only {ran} cases ran");
}

#[test]
fn aggregates() {
    passes("aggregates", 80);
}

#[test]
fn analytic() {
    passes("analytic", 70);
}

#[test]
fn deviations() {
    passes("deviations_stateful", 4);
}
