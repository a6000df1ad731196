//! The lazy scanner beside serde_json. Messages are the parts of the input between line feeds, so
//! that what is learned from one is used on the next.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rekuiper_formats::{DecodeOptions, Decoder};
use rekuiper_value::batch::RawBatch;
use rekuiper_value::{Field, json};
use serde_json::Value as J;

const NAMES: [&str; 4] = ["a", "temp", "device", "id"];

/// Where the two are meant to differ: escapes and bytes that are no UTF-8 are let through.
fn lenient(message: &[u8]) -> bool {
    message.contains(&b'\\') || std::str::from_utf8(message).is_err()
}

fn deep(message: &[u8]) -> bool {
    message.iter().filter(|b| matches!(b, b'[' | b'{')).count() > 100
}

fn objects(value: J) -> Option<Vec<serde_json::Map<String, J>>> {
    match value {
        J::Object(o) => Some(vec![o]),
        J::Array(items) => items
            .into_iter()
            .map(|v| match v {
                J::Object(o) => Some(o),
                _ => None,
            })
            .collect(),
        _ => None,
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(mut decoder) = Decoder::new(DecodeOptions::default()) else { return };
    let fields: Vec<Option<Field>> =
        NAMES.iter().map(|n| Some(Field::Named((*n).into()))).collect();
    decoder.set_fields(&fields);
    for message in data.split(|b| *b == b'\n') {
        let batch = decoder.decode(RawBatch::of_payloads(&[message], 0));
        if deep(message) {
            continue;
        }
        let judged = serde_json::from_slice::<J>(message).ok().and_then(objects);
        match judged {
            None if lenient(message) => {}
            // numbers that no double holds are refused by both, in other words
            None => assert!(batch.rows == 0, "accepted {:?}", String::from_utf8_lossy(message)),
            Some(rows) => {
                assert_eq!(batch.rows, rows.len(), "{:?}", String::from_utf8_lossy(message));
                for (at, row) in rows.iter().enumerate() {
                    for (col, name) in NAMES.iter().enumerate() {
                        let found = batch.value(col, at);
                        match row.get(*name) {
                            None => assert!(found.is_missing(), "{name} of {message:?}"),
                            Some(want) => {
                                let want = json::from_serde(want, false);
                                assert_eq!(found, want, "{name} of {message:?}");
                            }
                        }
                    }
                }
            }
        }
    }
});
