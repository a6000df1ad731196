//! Cases as text: JSON arguments in, JSON answer out; `error` where the row is to be lost.

use std::sync::OnceLock;

use jiff::tz::TimeZone;
use rekuiper_value::{Result, Value, json};

use crate::{Cx, FunctionDef, Host, Kind, RowTimes};

/// Host of the cases: a property `region`, a keyed state `limit`, fixed random bits.
pub(crate) struct TestHost;

impl Host for TestHost {
    fn keyed_state(&self, key: &str) -> Option<Value> {
        (key == "limit").then(|| Value::from("12"))
    }
    fn prop(&self, name: &str) -> Option<String> {
        (name == "region").then(|| "north".to_owned())
    }
    fn random(&self) -> u64 {
        0x9e37_79b9_7f4a_7c15
    }
    fn delay(&self, _ms: i64) {}
}

pub(crate) fn cx() -> Cx<'static> {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    Cx {
        now_ms: 1_700_000_000_123,
        rule_id: "rule7",
        rule_start: 1_700_000_000_000,
        zone: ZONE.get_or_init(|| TimeZone::UTC),
        row: RowTimes {
            event: 1_000,
            hit_count: 3,
            hit_time: 900,
            agg_hit_count: 2,
            agg_hit_time: 800,
            ..RowTimes::default()
        },
        host: &TestHost,
    }
}

pub(crate) fn read(text: &str) -> Value {
    json::parse(text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn list(text: &str) -> Vec<Value> {
    read(text)
        .as_array()
        .map(|a| a.to_vec())
        .unwrap_or_else(|| panic!("{text}: no array"))
}

fn shown(answer: &Result<Value>) -> String {
    match answer {
        Ok(value) => json::to_string(value).unwrap_or_else(|_| "error".into()),
        Err(_) => "error".into(),
    }
}

/// A scalar: the arguments as one JSON array.
pub(crate) fn scalar(def: &FunctionDef, args: &str, want: &str) {
    let got = def.call(&list(args), &cx());
    assert_eq!(shown(&got), want, "{}{args} gives {got:?}", def.name);
}

/// An aggregate: an array with the arguments of each row. The state goes through a checkpoint
/// after each row.
pub(crate) fn aggregate(def: &FunctionDef, rows: &str, want: &str) {
    let Kind::Aggregate { new, .. } = def.kind else {
        panic!("{} is no aggregate", def.name)
    };
    let mut plain = new();
    let mut saved = new();
    for row in list(rows) {
        let row = row.as_array().expect("a row of arguments").clone();
        let _ = plain.add(&row);
        let _ = saved.add(&row);
        let state = saved.save();
        saved = new();
        saved.load(&state);
    }
    assert_eq!(shown(&plain.finish()), want, "{} over {rows}", def.name);
    assert_eq!(
        shown(&saved.finish()),
        want,
        "{} over {rows}, restored",
        def.name
    );
}

/// An analytic function: arguments of each row, `{"skip":[…]}` for a row that WHEN leaves out;
/// answers as an array, `"error"` for a lost row. The state goes through a checkpoint as well.
pub(crate) fn series(def: &FunctionDef, rows: &str, want: &str) {
    let new = match def.kind {
        Kind::Analytic(new) | Kind::MultiColumn(new) => new,
        _ => panic!("{} is not analytic", def.name),
    };
    series_of(new, rows, want);
}

pub(crate) fn series_of(new: fn() -> Box<dyn crate::Analytic>, rows: &str, want: &str) {
    for checkpoints in [false, true] {
        let mut state = new();
        let mut answers = Vec::new();
        for row in list(rows) {
            let answer = match &row {
                Value::Object(o) => state.skip(o["skip"].as_array().expect("arguments")),
                _ => state.push(row.as_array().expect("arguments")),
            };
            answers.push(answer.unwrap_or_else(|_| Value::from("error")));
            if checkpoints {
                let kept = state.save();
                state = new();
                state.load(&kept);
            }
        }
        let got = json::to_string(&Value::array(answers)).expect("JSON");
        assert_eq!(got, want, "over {rows}, checkpoints {checkpoints}");
    }
}
