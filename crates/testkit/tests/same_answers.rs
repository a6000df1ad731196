//! Random rows and windows: what is held of the rows, how they come together, and whether the rule
//! was stopped and went on from a checkpoint, changes nothing.

use proptest::prelude::*;
use rekuiper_testkit::sqlcase::{Mode, run, same, timed};
use serde_json::{Map, Value, json};

fn key() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        4 => "[a-c]".prop_map(|s| Some(json!(s))),
        2 => (0..3i64).prop_map(|i| Some(json!(i))),
        1 => Just(Some(json!("1"))),
        1 => Just(Some(json!(1.5))),
        1 => Just(Some(json!("q\"uo\\te"))),
        1 => Just(Some(json!({"x": 1}))),
        1 => Just(Some(json!(9007199254740993i64))),
        1 => Just(Some(Value::Null)),
        1 => Just(None),
    ]
}

fn number() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        8 => (-20..20i64).prop_map(|i| Some(json!(i))),
        8 => (-2000..2000i32).prop_map(|i| Some(json!(f64::from(i) / 8.0))),
        // sums of these hang on the order of the additions
        8 => (-2000..2000i32).prop_map(|i| Some(json!(f64::from(i) / 10.0))),
        1 => (-9..9i32).prop_map(|i| Some(json!(f64::from(i) * 1e15))),
        1 => Just(Some(json!(9007199254740993i64))),
        1 => Just(Some(Value::Null)),
        1 => Just(None),
    ]
}

/// Rarely something that no aggregate of numbers takes.
fn value() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![60 => number(), 1 => Just(Some(json!("text"))), 1 => Just(Some(json!(true)))]
}

fn rows() -> impl Strategy<Value = Vec<Value>> {
    let row = (key(), value(), value(), 0..900i64);
    prop::collection::vec(row, 1..60).prop_map(|rows| {
        let mut ts = 0;
        let mut out = Vec::new();
        for (k, v, w, step) in rows {
            ts += step;
            let mut row = Map::new();
            for (name, value) in [("k", k), ("v", v), ("w", w), ("ts", Some(json!(ts)))] {
                row.extend(value.map(|v| (name.to_owned(), v)));
            }
            out.push(Value::Object(row));
        }
        out
    })
}

fn select() -> impl Strategy<Value = String> {
    let call = prop_oneof![
        Just("count(*)"), Just("count(v)"), Just("sum(v)"), Just("avg(v)"), Just("min(v)"),
        Just("max(v)"), Just("sum(w * 2)"), Just("avg(w)"), Just("collect(v)"), Just("min(k)"),
        Just("last_value(w, true)"), Just("stddev(v)"), Just("median(w)"), Just("max(w)"),
        Just("deduplicate(k, true)"), Just("count(k)"),
    ];
    prop::collection::vec(call, 1..5).prop_map(|calls| {
        let named = calls.iter().enumerate().map(|(i, c)| format!("{c} AS c{i}"));
        named.collect::<Vec<_>>().join(", ")
    })
}

fn window() -> impl Strategy<Value = (&'static str, bool)> {
    prop_oneof![
        Just(("TUMBLINGWINDOW(ss, 2)", true)),
        Just(("TUMBLINGWINDOW(ms, 700)", true)),
        Just(("HOPPINGWINDOW(ss, 3, 1)", true)),
        Just(("HOPPINGWINDOW(ss, 7, 3)", true)),
        Just(("HOPPINGWINDOW(ss, 1, 4)", true)),
        Just(("HOPPINGWINDOW(ms, 2500, 400)", true)),
        Just(("SLIDINGWINDOW(ss, 2)", true)),
        Just(("SLIDINGWINDOW(ss, 2, 1)", true)),
        Just(("SESSIONWINDOW(ss, 4, 1)", true)),
        Just(("STATEWINDOW(v > 3, v < 0)", true)),
        Just(("COUNTWINDOW(5)", false)),
        Just(("COUNTWINDOW(6, 2)", false)),
        Just(("COUNTWINDOW(16, 16)", false)),
        Just(("COUNTWINDOW(32, 16)", false)),
        Just(("COUNTWINDOW(50, 17)", false)),
    ]
}

fn statement() -> impl Strategy<Value = (String, bool)> {
    let groups = prop_oneof![Just(""), Just("k, "), Just("k, w > 1, ")];
    let filter = prop_oneof![3 => Just(""), 1 => Just(" FILTER(WHERE w > -5)")];
    let having = prop_oneof![3 => Just(""), 1 => Just(" HAVING count(*) > 1")];
    let plain = prop_oneof![Just(""), Just("k AS kk, w AS ww, "), Just("lag(v) AS l, ")];
    let order = prop_oneof![2 => Just(""), 1 => Just(" ORDER BY count(*) DESC LIMIT 2")];
    (select(), window(), groups, filter, having, (plain, order)).prop_map(
        |(calls, (window, event), groups, filter, having, (plain, order))| {
            let sql = format!(
                "SELECT {plain}{calls}, window_end() AS we FROM demo \
                 GROUP BY {groups}{window}{filter}{having}{order}"
            );
            (sql, event)
        },
    )
}

fn case(sql: &str, event: bool, fields: &str, rows: &[Value]) -> Value {
    let options = if event { json!({"isEventTime": true, "lateTolerance": 300}) } else { json!({}) };
    json!({"streams": [{"name": "demo", "fields": fields, "with": "TIMESTAMP=\"ts\"", "input": rows}],
           "sql": sql, "options": options})
}

const WHOLE: Mode = Mode { batch: 1024, buffered: false, reload_after: None };

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn however_rows_are_held_and_come(
        rows in rows(), (sql, event) in statement(), typed in any::<bool>(),
        batch in 1..9usize, reload in 0..20usize,
    ) {
        let fields = if typed { "k STRING, v BIGINT, w FLOAT, ts BIGINT" } else { "" };
        let case = case(&sql, event, fields, &rows);
        let want = run(&case, Mode { buffered: true, batch: 1, ..WHOLE });
        let modes = [
            WHOLE,
            Mode { batch, ..WHOLE },
            Mode { batch, buffered: true, ..WHOLE },
            Mode { batch, reload_after: Some(reload), ..WHOLE },
            Mode { batch, buffered: true, reload_after: Some(reload) },
        ];
        for mode in modes {
            match (&want, &run(&case, mode)) {
                (Ok(want), Ok(got)) => prop_assert!(
                    same(&json!(want), &json!(got)),
                    "{sql}\n{mode:?}\nwant {}\ngot  {}", json!(want), json!(got)
                ),
                (want, got) => prop_assert_eq!(want.is_err(), got.is_err(), "{}: {:?}", sql, got),
            }
        }
    }
    /// Windows that end by the clock, with ticks that come late.
    #[test]
    fn however_rows_are_held_in_processing_time(
        rows in rows(), (sql, _) in statement(), late in 0..900i64, begin in 0..2000i64,
    ) {
        let arrive = |mut row: Value| {
            row["at"] = json!(begin + row["ts"].as_i64().unwrap_or(0));
            row
        };
        let rows: Vec<Value> = rows.into_iter().map(arrive).collect();
        let case = |buffered: bool| json!({
            "streams": [{"name": "demo", "fields": "", "input": rows}], "sql": sql,
            "begin": begin, "buffered": buffered
        });
        match (timed(&case(true), 70_000, late), timed(&case(false), 70_000, late)) {
            (Ok(want), Ok(got)) => prop_assert!(
                same(&json!(want), &json!(got)),
                "{sql}\nwant {}\ngot  {}", json!(want), json!(got)
            ),
            (want, got) => prop_assert_eq!(want.is_err(), got.is_err(), "{}: {:?}", sql, got),
        }
    }
}
