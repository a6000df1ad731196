//! dedup_trigger(start, end, now, expire): spans of time that several rows ask for come once.

use rekuiper_testkit::sqlcase::{Mode, run, timed};
use serde_json::{Value, json};

const SQL: &str = "SELECT v, dedup_trigger(s, e, n, 1000) AS spans FROM demo";

fn case(rows: &[[i64; 4]]) -> Value {
    let row = |(v, [at, s, e, n]): (usize, &[i64; 4])| {
        json!({"at": at, "v": v, "s": s, "e": e, "n": n})
    };
    let input: Vec<Value> = rows.iter().enumerate().map(row).collect();
    json!({"streams": [{"name": "demo", "fields": "", "input": input}], "sql": SQL, "begin": 0})
}

/// Rows `[at, start, end, now]`, numbered by `v`; what came out up to the moment `until`.
fn out(rows: &[[i64; 4]], until: i64) -> Value {
    Value::from(timed(&case(rows), until, 0).expect("accepted"))
}

fn span(start: i64, end: i64) -> Value {
    json!({"start_key": start.to_string(), "end_key": end.to_string()})
}

#[test]
fn what_was_asked_for_does_not_come_again() {
    let rows = [[0, 100, 200, 500], [1, 150, 300, 501], [2, 100, 250, 502], [3, 50, 400, 503]];
    let want = json!([
        [{"v": 0, "spans": [span(100, 200)]}],
        [{"v": 1, "spans": [span(200, 300)]}],
        [{"v": 2}],
        [{"v": 3, "spans": [span(50, 100), span(300, 400)]}]
    ]);
    assert_eq!(out(&rows, 10), want);
}

#[test]
fn spans_between_and_beside_others() {
    let rows = [[0, 10, 20, 100], [1, 40, 50, 100], [2, 0, 60, 100], [3, 60, 70, 100]];
    let want = json!([
        [{"v": 0, "spans": [span(10, 20)]}],
        [{"v": 1, "spans": [span(40, 50)]}],
        [{"v": 2, "spans": [span(0, 10), span(20, 40), span(50, 60)]}],
        [{"v": 3, "spans": [span(60, 70)]}]
    ]);
    assert_eq!(out(&rows, 10), want);
}

#[test]
fn a_span_that_is_not_over_waits_for_the_clock() {
    let rows = [[0, 100, 900, 400]];
    assert_eq!(out(&rows, 499), json!([]));
    assert_eq!(out(&rows, 500), json!([[{"v": 0, "spans": [span(100, 900)]}]]));
}

#[test]
fn a_span_that_is_not_over_is_let_go_by_a_later_row() {
    // the second row's now is beyond the first one's end; its own span is over as well
    let rows = [[0, 100, 900, 400], [10, 850, 950, 1000]];
    let want = json!([
        [{"v": 0, "spans": [span(100, 900)]}],
        [{"v": 1, "spans": [span(900, 950)]}]
    ]);
    assert_eq!(out(&rows, 20), want);
}

#[test]
fn waiting_spans_leave_in_the_order_of_their_ends() {
    let rows = [[0, 100, 900, 400], [1, 200, 600, 400], [2, 300, 700, 400]];
    let want = json!([
        [{"v": 1, "spans": [span(200, 600)]}],
        [{"v": 2, "spans": [span(600, 700)]}],
        [{"v": 0, "spans": [span(100, 200), span(700, 900)]}]
    ]);
    assert_eq!(out(&rows, 5000), want);
}

#[test]
fn what_has_expired_is_cut_off_and_forgotten() {
    // 1000 before now at most
    let rows = [[0, 100, 2000, 2500], [1, 100, 400, 5000], [2, 1600, 1900, 2600]];
    let got = out(&rows, 10);
    assert_eq!(got[0], json!([{"v": 0, "spans": [span(1500, 2000)]}]));
    assert_eq!(got[1], json!([{"v": 1}]), "all of it is too old");
    assert_eq!(got[2], json!([{"v": 2, "spans": [span(1600, 1900)]}]), "forgotten at now 5000");
}

#[test]
fn a_row_whose_span_is_none_is_lost_alone() {
    let mut case = case(&[[0, 500, 400, 600], [1, 100, 200, 600]]);
    let text = json!({"at": 2, "v": 2, "s": "x", "e": 3, "n": 4});
    case["streams"][0]["input"].as_array_mut().expect("rows").push(text);
    let got = Value::from(timed(&case, 10, 0).expect("accepted"));
    assert_eq!(got, json!([[{"v": 1, "spans": [span(100, 200)]}]]));
}

#[test]
fn spans_are_remembered_over_a_stop() {
    let rows = [[0, 100, 200, 500], [0, 900, 950, 500], [0, 150, 300, 501], [0, 0, 10, 960]];
    let whole = Mode { batch: 1024, buffered: false, reload_after: None };
    let want = run(&case(&rows), whole).expect("accepted");
    assert_eq!(want.len(), 4);
    for at in 1..=3 {
        let stopped = Mode { batch: 1, reload_after: Some(at), ..whole };
        assert_eq!(run(&case(&rows), stopped), Ok(want.clone()), "stopped after {at}");
    }
}

#[test]
fn other_arguments_are_refused_with_the_place() {
    for sql in [
        "SELECT dedup_trigger(s, e, n) AS x FROM demo",
        "SELECT dedup_trigger(s, e, n, m) AS x FROM demo",
        "SELECT dedup_trigger(1, e, n, 5) AS x FROM demo",
        "SELECT dedup_trigger(s, e, n, 5.5) AS x FROM demo",
    ] {
        let mut case = case(&[]);
        case["sql"] = json!(sql);
        let error = timed(&case, 0, 0).expect_err(sql);
        assert!(error.contains('^'), "{error}");
    }
}
