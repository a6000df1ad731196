//! Large and deep statements are planned, or refused with words; none ends the process.

mod support;

use rekuiper_expr::{Env, Frame};
use rekuiper_functions::{Cx, NoHost, RowTimes};
use rekuiper_plan::physical::OutItem;
use rekuiper_plan::{Planned, RuleOptions, plan_rule};
use rekuiper_sql::parse_select;
use rekuiper_value::{Column, Value};
use support::Streams;

fn plan(sql: &str) -> Result<Planned, String> {
    let mut streams = Streams::default();
    streams.create("CREATE STREAM demo () WITH (DATASOURCE=\"d\")")?;
    let select = parse_select(sql).map_err(|e| e.to_string())?;
    plan_rule(&select, &streams, &RuleOptions::default()).map_err(|e| e.to_string())
}

/// The first item's value where every column is 1.
fn value(planned: &Planned) -> Value {
    let ones: Vec<Column> = (0..planned.plan.source_cols)
        .map(|_| Column::values(vec![Value::Int(1)]))
        .collect();
    let frame = Frame::new(&ones, 1);
    let zone = jiff::tz::TimeZone::UTC;
    let cx = Cx {
        now_ms: 0,
        rule_id: "r",
        rule_start: 0,
        zone: &zone,
        row: RowTimes::default(),
        host: &NoHost,
    };
    match &planned.plan.projection.items[0] {
        OutItem::Field { expr, .. } => expr
            .clone()
            .eval(
                Env {
                    frame: &frame,
                    cx: &cx,
                },
                0,
            )
            .expect("a value"),
        OutItem::Const { value, .. } => value.clone(),
        _ => panic!("no single value"),
    }
}

/// A thread's stack as small as those of the runtime.
fn in_a_thread(f: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new()
        .stack_size(1024 * 1024)
        .spawn(f)
        .expect("a thread");
    thread.join().expect("it ends well");
}

#[test]
fn a_chain_of_five_thousand_terms_runs_on_a_small_stack() {
    in_a_thread(|| {
        let sql = format!("SELECT a{} AS x FROM demo", " + a".repeat(5_000));
        let planned = plan(&sql).expect("planned");
        assert_eq!(value(&planned), Value::Int(5_001));
    });
}

#[test]
fn nested_calls_and_cases_run_on_a_small_stack() {
    in_a_thread(|| {
        let calls = format!(
            "SELECT {}a{} AS x FROM demo",
            "abs(".repeat(1_000),
            ")".repeat(1_000)
        );
        assert_eq!(value(&plan(&calls).expect("planned")), Value::Int(1));
        let cases = "CASE WHEN a > 1 THEN 0 ELSE ".repeat(500);
        let cases = format!("SELECT {cases}7{} AS x FROM demo", " END".repeat(500));
        assert_eq!(value(&plan(&cases).expect("planned")), Value::Int(7));
        let ors = format!(
            "SELECT a FROM demo WHERE a = 0{}",
            " OR a = 2".repeat(4_000)
        );
        plan(&ors).expect("planned");
    });
}

#[test]
fn many_columns_are_fine_and_too_many_are_refused() {
    let columns = |n: usize| {
        (0..n)
            .map(|i| format!("c{i}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let planned = plan(&format!("SELECT {} FROM demo", columns(10_000))).expect("planned");
    assert_eq!(planned.plan.source_cols, 10_000);
    let said = plan(&format!("SELECT {} FROM demo", columns(66_000)))
        .err()
        .expect("refused");
    assert!(said.contains("more than 65,000 columns"), "{said}");
}

#[test]
fn aliases_that_double_are_refused_before_they_fill_the_memory() {
    let doubled = (1..60).map(|i| format!("x{} + x{} AS x{i}", i - 1, i - 1));
    let items: Vec<String> = std::iter::once("a AS x0".to_owned())
        .chain(doubled)
        .collect();
    let said = plan(&format!("SELECT {} FROM demo", items.join(", ")))
        .err()
        .expect("refused");
    assert!(said.contains("grow too large"), "{said}");
}

#[test]
fn a_long_chain_of_aliases_in_any_order() {
    let mut items: Vec<String> = (1..400)
        .map(|i| format!("x{} + 1 AS x{i}", i - 1))
        .collect();
    items.push("a AS x0".to_owned());
    items.reverse();
    let planned = plan(&format!("SELECT {} FROM demo", items.join(", "))).expect("planned");
    assert_eq!(planned.plan.source_cols, 1);
    items.reverse();
    let planned = plan(&format!("SELECT {} FROM demo", items.join(", "))).expect("planned");
    assert_eq!(planned.plan.source_cols, 1);
}
