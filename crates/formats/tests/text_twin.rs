//! delimited and urlencoded beside the plainest code that says what they are; rows written and
//! read again.

mod common;

use common::{decode, named, show};
use proptest::prelude::*;
use rekuiper_formats::{DecodeOptions, EncodeOptions, Encoder};
use rekuiper_value::{Field, Object, Value, json};

fn of(format: &str, delimiter: &str) -> DecodeOptions {
    DecodeOptions { format: format.into(), delimiter: delimiter.into(), ..Default::default() }
}

fn fields(names: &[&str]) -> Vec<Option<Field>> {
    [named(names), vec![Some(Field::Whole)]].concat()
}

fn text(value: Option<&str>) -> String {
    value.map_or("-".into(), |s| json::to_string(&Value::str(s)).unwrap())
}

proptest! {
    #[test]
    fn delimited_is_split(
        lines in prop::collection::vec("[a-c,;|\u{e9}\"]{0,20}", 0..6),
        delimiter in prop::sample::select(vec![",", ";", ";;", "|", "\u{e9}"]),
    ) {
        let payloads: Vec<&[u8]> = lines.iter().map(|l| l.as_bytes()).collect();
        let batch = decode(of("delimited", delimiter), &fields(&["col1", "col0"]), &payloads);
        let mut want = String::new();
        for line in &lines {
            let cells: Vec<&str> = line.split(delimiter).collect();
            let all: Object = cells
                .iter()
                .enumerate()
                .map(|(at, cell)| (format!("col{at}").into(), Value::str(*cell)))
                .collect();
            let whole = json::to_string(&Value::object(all)).unwrap();
            let (first, second) = (cells.first().copied(), cells.get(1).copied());
            want += &format!("{} {} {whole}\n", text(second), text(first));
        }
        prop_assert_eq!(show(&batch), want);
    }

    #[test]
    fn urlencoded_comes_back(
        row in prop::collection::btree_map("[a-z&= +%\u{e9}]{1,5}", prop::collection::vec(any::<String>(), 1..4), 1..5)
    ) {
        let value = |texts: &Vec<String>| match texts.as_slice() {
            [one] => Value::str(one.as_str()),
            all => Value::array(all.iter().map(|t| Value::str(t.as_str())).collect()),
        };
        let object: Object = row.iter().map(|(k, v)| (k.as_str().into(), value(v))).collect();
        let options = EncodeOptions { format: "urlencoded".into(), ..Default::default() };
        let mut out = Vec::new();
        Encoder::new(options).unwrap().encode(&object, &mut out).unwrap();
        prop_assert!(out.is_ascii());
        let batch = decode(of("urlencoded", ""), &fields(&[]), &[&out]);
        prop_assert_eq!(batch.value(0, 0), Value::object(object));
    }

    #[test]
    fn no_payload_does_harm(bytes in prop::collection::vec(any::<u8>(), 0..60), names in prop::collection::vec("[a-z]{1,3}", 0..3)) {
        for format in ["json", "binary", "delimited", "urlencoded"] {
            let names: Vec<&str> = names.iter().map(|n| n.as_str()).collect();
            let batch = decode(of(format, ""), &fields(&names), &[&bytes, b"{}", &bytes]);
            prop_assert_eq!(batch.messages, 3);
            prop_assert!(show(&batch).lines().count() >= batch.rows);
        }
    }
}
