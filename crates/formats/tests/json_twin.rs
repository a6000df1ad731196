//! The scanner beside serde_json: the same payloads are valid, and the same values are found,
//! whatever the shape of the messages before.

mod common;

use common::{decode, named, show};
use proptest::prelude::*;
use rekuiper_formats::{DecodeOptions, Decoder};
use rekuiper_value::batch::RawBatch;
use rekuiper_value::{Batch, Value, json};
use serde_json::Value as J;

const NAMES: [&str; 4] = ["a", "temp", "a key longer than sixteen bytes", "é\""];

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|i| i.to_string()),
        (-100i32..100).prop_map(|i| i.to_string()),
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(|f| f.to_string()),
        "-?(0|[1-9][0-9]{0,17})(\\.[0-9]{1,12})?([eE][+-]?[0-9]{1,2})?",
        "-?[0-9]{1,3}\\.[0-9]{1,3}",
    ]
}

fn string() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>().prop_map(|s| serde_json::to_string(&s).unwrap()),
        "[a-z0-9-]{0,20}".prop_map(|s| format!("\"{s}\"")),
        Just("\"\\u0041\\ud83d\\ude00\\n<&>\u{2028}\"".to_string()),
    ]
}

fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        number(),
        string(),
        Just("true".to_string()),
        Just("false".into()),
        Just("null".into()),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(|v| format!("[{}]", v.join(", "))),
            prop::collection::vec((key(), inner), 0..5).prop_map(|m| members(&m, ":")),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => (0..NAMES.len()).prop_map(|i| serde_json::to_string(NAMES[i]).unwrap()),
        1 => Just("\"\\u0061\"".to_string()),
        1 => string(),
    ]
}

fn members(members: &[(String, String)], colon: &str) -> String {
    let all: Vec<String> = members.iter().map(|(k, v)| format!("{k}{colon}{v}")).collect();
    format!("{{{}}}", all.join(","))
}

fn message() -> impl Strategy<Value = String> {
    let member = || prop::collection::vec((key(), value()), 0..7);
    prop_oneof![
        6 => (member(), prop_oneof![Just(":"), Just(": "), Just(" :\t")])
            .prop_map(|(m, colon)| members(&m, colon)),
        1 => prop::collection::vec(member(), 0..4)
            .prop_map(|all| {
                let all: Vec<String> = all.iter().map(|m| members(m, ":")).collect();
                format!(" [{}] ", all.join(" , "))
            }),
        1 => value(),
    ]
}

/// Messages as they are, damaged, and repeated so that shapes are learned.
fn messages() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let damage = (any::<prop::sample::Index>(), any::<u8>(), 0..8u8);
    let one = (message(), prop::option::weighted(0.4, damage), 1..5usize);
    prop::collection::vec(one, 1..6).prop_map(|all| {
        let mut out = Vec::new();
        for (text, damage, times) in all {
            let good = text.into_bytes();
            for _ in 0..times {
                out.push(good.clone());
            }
            if let (Some((at, byte, how)), false) = (damage, good.is_empty()) {
                let mut bad = good.clone();
                let at = at.index(bad.len());
                match how {
                    0 => bad.truncate(at),
                    1 => drop(bad.remove(at)),
                    2 => bad.insert(at, byte),
                    3 => bad.insert(at, b"{}[],:\"\\0-.e "[usize::from(byte) % 13]),
                    4 => bad[at] = b"{}[],:\"\\0-.e "[usize::from(byte) % 13],
                    5 => bad.extend_from_within(at..),
                    _ => bad[at] = byte,
                }
                out.push(bad);
                out.push(good);
            }
        }
        out
    })
}

/// What serde_json makes of a payload: rows, or an error; `None` where we mean to differ (escapes
/// that say nothing, lone surrogates and bad UTF-8 are taken as they are).
fn judge(payload: &[u8]) -> Option<Result<Vec<serde_json::Map<String, J>>, ()>> {
    if std::str::from_utf8(payload).is_err() {
        return None;
    }
    match serde_json::from_slice::<J>(payload) {
        Ok(J::Object(row)) => Some(Ok(vec![row])),
        Ok(J::Array(items)) => {
            let rows: Option<Vec<_>> = items.iter().map(|i| i.as_object().cloned()).collect();
            Some(rows.ok_or(()))
        }
        Ok(_) => Some(Err(())),
        Err(e) => {
            let text = e.to_string();
            let ours = ["escape", "surrogate", "recursion"].iter().any(|w| text.contains(w));
            if ours { None } else { Some(Err(())) }
        }
    }
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 1500, failure_persistence: None, ..Default::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn same_verdict_and_values(payloads in messages()) {
        let payloads: Vec<&[u8]> = payloads.iter().map(|p| p.as_slice()).collect();
        let mut decoder = Decoder::new(DecodeOptions::default()).unwrap();
        decoder.set_fields(&named(&NAMES));
        let mut one_by_one = String::new();
        for payload in &payloads {
            let batch = decoder.decode(RawBatch::of_payloads(&[payload], 0));
            one_by_one += &show(&batch);
            let shown = String::from_utf8_lossy(payload).into_owned();
            match judge(payload) {
                None => {}
                Some(Err(())) => prop_assert_eq!(batch.errors.len(), 1, "accepted {}", shown),
                Some(Ok(rows)) => {
                    prop_assert!(batch.errors.is_empty(), "{:?} {}", batch.errors, shown);
                    prop_assert_eq!(batch.rows, rows.len());
                    for (row, want) in rows.iter().enumerate() {
                        same_row(&batch, row, want)?;
                    }
                }
            }
        }
        let together = decode(DecodeOptions::default(), &named(&NAMES), &payloads);
        prop_assert_eq!(show(&together), one_by_one);
    }
}

fn same_row(
    batch: &Batch,
    row: usize,
    want: &serde_json::Map<String, J>,
) -> Result<(), TestCaseError> {
    for (col, name) in NAMES.iter().enumerate() {
        let got = batch.value(col, row);
        let want = want.get(*name).map_or(Value::Missing, |v| json::from_serde(v, false));
        prop_assert_eq!(&got, &want, "{} of {:?}", name, want);
        prop_assert_eq!(got.is_missing(), want.is_missing());
        let mut out = Vec::new();
        batch.cols[col].write_json(row, &mut out).unwrap();
        prop_assert_eq!(String::from_utf8(out).unwrap(), json::to_string(&want).unwrap());
    }
    Ok(())
}

#[test]
fn nesting_is_bounded() {
    for (depth, good) in [(510, true), (511, true), (512, true), (513, false), (100_000, false)] {
        let text = format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        let batch = decode(DecodeOptions::default(), &named(&["a"]), &[text.as_bytes()]);
        assert_eq!(batch.rows == 1, good, "{depth}");
        assert_eq!(json::parse(text.as_bytes()).is_ok(), good, "{depth}");
        let unread = decode(DecodeOptions::default(), &named(&["b"]), &[text.as_bytes()]);
        assert_eq!(unread.rows == 1, good, "{depth}");
        let text = format!("{}1{}", "{\"x\":".repeat(depth), "}".repeat(depth));
        let unread = decode(DecodeOptions::default(), &named(&["b"]), &[text.as_bytes()]);
        assert_eq!(unread.rows == 1, json::parse(text.as_bytes()).is_ok(), "{depth}");
    }
}
