//! Windows in processing time: rows arrive at moments, ticks come at deadlines.

use rekuiper_testkit::sqlcase::timed;
use serde_json::{Value, json};

/// Rows `[at, value, key]`; the emissions up to `until`.
fn run_late(sql: &str, rows: &[(i64, i64, &str)], until: i64, late: i64) -> Value {
    let input: Vec<Value> =
        rows.iter().map(|(at, a, k)| json!({"at": at, "a": a, "k": k})).collect();
    let case = |buffered: bool| {
        json!({"streams": [{"name": "demo", "fields": "", "input": input}], "sql": sql,
               "begin": 100, "buffered": buffered})
    };
    let got = Value::from(timed(&case(false), until, late).unwrap());
    assert_eq!(got, Value::from(timed(&case(true), until, late).unwrap()), "buffered: {sql}");
    got
}

fn run(sql: &str, rows: &[(i64, i64, &str)], until: i64) -> Value {
    run_late(sql, rows, until, 0)
}

#[test]
fn tumbling_ends_lie_on_the_clock_and_empty_windows_are_sent() {
    let sql = "SELECT count(*) AS n, sum(a) AS s, window_start() AS ws, window_end() AS we \
               FROM demo GROUP BY TUMBLINGWINDOW(ss, 1)";
    let rows = [(150, 1, "x"), (999, 2, "x"), (1000, 4, "x"), (1500, 8, "x"), (3200, 16, "x")];
    let want = json!([
        [{"n": 2, "s": 3.0, "ws": 100, "we": 1000}],
        [{"n": 2, "s": 12.0, "ws": 1000, "we": 2000}],
        [{"ws": 2000, "we": 3000}],
        [{"n": 1, "s": 16.0, "ws": 3000, "we": 4000}]
    ]);
    assert_eq!(run(sql, &rows, 4100), numbers(want));
}

/// Doubles print without a point where they are whole.
fn numbers(value: Value) -> Value {
    match value {
        Value::Number(n) => match n.as_f64() {
            Some(f) if f.fract() == 0.0 => json!(f as i64),
            _ => Value::Number(n),
        },
        Value::Array(items) => items.into_iter().map(numbers).collect(),
        Value::Object(members) => members.into_iter().map(|(k, v)| (k, numbers(v))).collect(),
        other => other,
    }
}

#[test]
fn a_row_is_in_exactly_one_tumbling_window_however_late_ticks_are() {
    let rows: Vec<(i64, i64, &str)> = (0..200).map(|i| (100 + i * 37, 1, "x")).collect();
    for late in [0, 1, 37, 400, 999] {
        let sql = "SELECT count(*) AS n FROM demo GROUP BY TUMBLINGWINDOW(ms, 500)";
        let got = run_late(sql, &rows, 20_000, late);
        let total: i64 = got.as_array().unwrap().iter().filter_map(|e| e[0]["n"].as_i64()).sum();
        assert_eq!(total, 200, "late by {late}");
    }
}

#[test]
fn groups_without_rows_are_not_sent() {
    let sql = "SELECT k, count(*) AS n FROM demo GROUP BY k, TUMBLINGWINDOW(ss, 1)";
    let rows = [(150, 1, "x"), (160, 1, "y"), (170, 1, "x"), (3100, 1, "z")];
    let want = json!([[{"k": "x", "n": 2}, {"k": "y", "n": 1}], [{"k": "z", "n": 1}]]);
    assert_eq!(run(sql, &rows, 9000), want);
}

#[test]
fn hopping_windows_overlap() {
    let sql = "SELECT collect(a) AS vs, window_start() AS ws FROM demo \
               GROUP BY HOPPINGWINDOW(ss, 2, 1)";
    let rows = [(150, 1, "x"), (1100, 2, "x"), (2100, 3, "x")];
    let want = json!([
        [{"vs": [1], "ws": -1000}], [{"vs": [1, 2], "ws": 0}], [{"vs": [2, 3], "ws": 1000}],
        [{"vs": [3], "ws": 2000}]
    ]);
    assert_eq!(run(sql, &rows, 4100), want);
}

#[test]
fn sessions_end_by_the_clock() {
    let sql = "SELECT count(*) AS n, window_start() AS ws, window_end() AS we FROM demo \
               GROUP BY SESSIONWINDOW(ss, 10, 2)";
    let rows = [(150, 1, "x"), (1900, 2, "x"), (7000, 3, "x")];
    let want = json!([[{"n": 2, "ws": 150, "we": 3900}], [{"n": 1, "ws": 7000, "we": 9000}]]);
    assert_eq!(run(sql, &rows, 30_000), want);
}

#[test]
fn an_endless_session_is_cut() {
    let sql = "SELECT count(*) AS n FROM demo GROUP BY SESSIONWINDOW(ss, 5, 2)";
    let rows: Vec<(i64, i64, &str)> = (0..40).map(|i| (100 + i * 500, 1, "x")).collect();
    let got = run(sql, &rows, 60_000);
    let counts: Vec<i64> = got.as_array().unwrap().iter().filter_map(|e| e[0]["n"].as_i64()).collect();
    assert_eq!(counts.iter().sum::<i64>(), 40);
    assert!(counts.len() >= 2, "{counts:?}");
}

#[test]
fn sliding_with_delay_waits() {
    let sql = "SELECT collect(a) AS vs, window_end() AS we FROM demo \
               GROUP BY SLIDINGWINDOW(ss, 1, 1) OVER (WHEN a = 2)";
    let rows = [(200, 1, "x"), (900, 2, "x"), (1500, 3, "x"), (2600, 4, "x")];
    assert_eq!(run(sql, &rows, 9000), json!([[{"vs": [1, 2, 3], "we": 1900}]]));
}

#[test]
fn a_row_from_the_far_future_does_not_occupy_the_rule() {
    let sql = "SELECT count(*) AS n FROM demo GROUP BY TUMBLINGWINDOW(ms, 1)";
    let year = 31_536_000_000;
    // ticks that come a year late, as after a sleep of the machine
    let got = run_late(sql, &[(150, 1, "x"), (year, 2, "x")], 2 * year + 10, year);
    let got = got.as_array().unwrap();
    assert!(got.len() < 100_000, "{} emissions", got.len());
    let total: i64 = got.iter().filter_map(|e| e[0]["n"].as_i64()).sum();
    assert_eq!(total, 2);
}

/// Names that come and go: what windows share must not remember them all, nor mix them up.
#[test]
fn groups_that_change_all_the_time() {
    let names: Vec<String> = (0..6000).map(|i| format!("d{}", i / 3 + i % 7 * 500)).collect();
    let rows: Vec<(i64, i64, &str)> =
        names.iter().enumerate().map(|(i, k)| (100 + i as i64 * 2, i as i64 % 9, &k[..])).collect();
    let hops = ["HOPPINGWINDOW(ss, 2, 1)", "HOPPINGWINDOW(ms, 500, 200)"];
    for window in hops.into_iter().chain(["COUNTWINDOW(900, 300)"]) {
        let sql = format!("SELECT k, count(*) AS n, sum(a) AS s FROM demo GROUP BY k, {window}");
        let got = run(&sql, &rows, 30_000);
        assert!(got.as_array().is_some_and(|sets| sets.len() > 10), "{window}");
    }
}
