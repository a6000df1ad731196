//! Payloads in, columns out.

mod common;

use std::sync::Arc;

use common::{decode, named, run, schema, show};
use rekuiper_formats::{DecodeOptions, Decoder, Timestamp};
use rekuiper_value::batch::{Msg, MsgMeta, Payloads, RawBatch, SourceRow, Stamps};
use rekuiper_value::{ColType, Field, Object, Str, Value, json};

fn typed(columns: &[(&str, ColType)], strict: bool) -> DecodeOptions {
    DecodeOptions { schema: schema(columns), strict, ..Default::default() }
}

#[test]
fn payload_forms() {
    let got = run(
        DecodeOptions::default(),
        &named(&["a"]),
        &[r#"{"a":1}"#, r#"[{"a":1.50},{"a":2}]"#, "[]", "{}", "\"str\"", "[{\"a\":3},4]", "x"],
    );
    let only = "! only map[string]interface{} and []map[string]interface{} is supported\n";
    assert_eq!(
        got,
        format!(
            "1\n1.5\n2\n-\n{only}{only}! cannot parse JSON: expected a value at byte 0, found 'x'\n"
        )
    );
}

#[test]
fn whole_rows_keep_everything() {
    let got = run(
        DecodeOptions::default(),
        &[Some(Field::Whole), None, Some(Field::Named("b".into()))],
        &[r#" {"b":1, "a":null, "b":2} "#],
    );
    assert_eq!(got, "{\"a\":null,\"b\":2} - 2\n");
}

#[test]
fn names_match_in_any_case_where_that_is_asked_for() {
    let options = DecodeOptions { any_case: true, ..Default::default() };
    let fields = named(&["temp", "TEMP", "b", "c1", "c2", "c3", "c4", "c5", "c6", "C7"]);
    let payloads = [r#"{"Temp":1,"B":2,"c7":7}"#, r#"{"tem\u0050":3}"#, r#"{"Tempo":4}"#];
    let got = run(options.clone(), &fields, &payloads);
    assert_eq!(got, "1 1 2 - - - - - - 7\n3 3 - - - - - - - -\n- - - - - - - - - -\n");
    let few = run(options, &named(&["temp"]), &payloads);
    assert_eq!(few, "1\n3\n-\n");
    let declared = typed(&[("Temp", ColType::Bigint)], false);
    let declared = DecodeOptions { any_case: true, ..declared };
    let got = run(declared, &named(&["temp"]), &[r#"{"TEMP":1}"#, r#"{"temp":"x"}"#]);
    assert!(got.starts_with("1\n!"), "{got}");
}

#[test]
fn integers_on_demand() {
    let options = DecodeOptions { ints: true, ..Default::default() };
    let fields = [named(&["a", "b"]), vec![Some(Field::Whole)]].concat();
    let payloads: [&[u8]; 3] = [
        br#"{"a":9007199254740993,"b":[1,1.0]}"#,
        br#"{"a":1e3}"#,
        br#"{"a":99999999999999999999}"#,
    ];
    let batch = decode(options, &fields, &payloads);
    assert_eq!((batch.rows, batch.errors.len()), (1, 2));
    assert!(matches!(batch.value(0, 0), Value::Int(9007199254740993)));
    let list = batch.value(1, 0);
    assert!(matches!(list.as_array().unwrap()[..], [Value::Int(1), Value::Float(_)]));
    assert!(matches!(batch.value(2, 0).as_object().unwrap()["a"], Value::Int(_)));
}

fn one(ty: ColType, strict: bool, texts: &[&str]) -> String {
    let payloads: Vec<String> = texts.iter().map(|t| format!("{{\"a\":{t}}}")).collect();
    let payloads: Vec<&str> = payloads.iter().map(|p| p.as_str()).collect();
    let got = run(typed(&[("a", ty)], strict), &named(&["a"]), &payloads);
    got.lines().map(|l| if l.starts_with('!') { "!" } else { l }).collect::<Vec<_>>().join(" ")
}

#[test]
fn declared_types() {
    use ColType::*;
    let bigint = ["5", "9007199254740993", "1.0", "1e3", "5.5", "\"5\"", "true", "[1]", "null"];
    assert_eq!(one(Bigint, false, &bigint), "5 9007199254740993 1 1000 ! ! ! ! null");
    assert_eq!(one(Float, false, &["5", "5.5", "\"5\"", "true"]), "5 5.5 ! !");
    let string = ["\"x\"", "3", "4.5", "100000000000", "true", "{}"];
    assert_eq!(one(String, false, &string), "\"x\" \"3\" \"4.5\" \"1e+11\" ! !");
    let boolean = ["true", "1", "0", "\"T\"", "\"x\""];
    assert_eq!(one(Boolean, false, &boolean), "true true false true !");
    assert_eq!(one(Datetime, false, &["\"2020\"", "1.5", "true", "[1]"]), "\"2020\" 1.5 ! !");
    assert_eq!(one(Bytea, false, &["\"YWJj\"", "\"!!\"", "5"]), "\"YWJj\" \"ISE=\" !");
    let list = Array(Box::new(Bigint));
    assert_eq!(one(list.clone(), false, &["[1,null]", "[1.5]", "5"]), "[1,null] ! !");
    let object = Struct(vec![("k".into(), Bigint), ("n".into(), String)]);
    let structs = [r#"{"k":1,"n":5,"z":0}"#, r#"{"k":"1"}"#, "{}", "\"x\"", "null"];
    assert_eq!(one(object.clone(), false, &structs), "{\"k\":1,\"n\":\"5\"} ! {} ! null");
    // strictly: null and missing members are refused, datetimes become times
    assert_eq!(one(Bigint, true, &["5", "null"]), "5 !");
    let times = ["1000", "\"2020-01-01\"", "1.5"];
    assert_eq!(
        one(Datetime, true, &times),
        "\"1970-01-01T00:00:01Z\" \"2020-01-01T00:00:00Z\" \"1970-01-01T00:00:00.001Z\""
    );
    assert_eq!(one(list, true, &["[1,2]", "[]", "[null,1]"]), "[1,2] [] !");
    let structs = [r#"{"k":1,"n":"x"}"#, r#"{"k":1}"#, "null"];
    assert_eq!(one(object, true, &structs), "{\"k\":1,\"n\":\"x\"} ! null");
}

#[test]
fn declared_rows_have_declared_columns_only() {
    let columns = [("a", ColType::Bigint), ("b", ColType::String)];
    let got = run(
        typed(&columns, false),
        &[Some(Field::Whole), Some(Field::Named("z".into()))],
        &[r#"{"z":null,"a":1}"#, r#"{"b":null}"#, r#"[{"a":2},{"a":"x"},{"b":"q"}]"#],
    );
    let wrong = "! a has wrong type:string, expect:bigint\n";
    assert_eq!(got, format!("{{\"a\":1}} -\n{{\"b\":null}} -\n{wrong}"));
}

#[test]
fn strict_streams_want_every_used_column() {
    let mut options = typed(&[("a", ColType::Bigint), ("b", ColType::Float)], true);
    options.defaults = vec![("b".into(), Value::Float(0.5))];
    let got = run(options, &named(&["a", "b"]), &[r#"{"a":1}"#, r#"{"b":2}"#, r#"[{"a":3}]"#]);
    assert_eq!(got, "1 0.5\n! error in preprocessor: field a is not found\n3 0.5\n");
}

#[test]
fn event_time() {
    let options = DecodeOptions {
        timestamp: Some(Timestamp { column: "ts".into(), format: Some("yyyy/MM/dd".into()) }),
        ..Default::default()
    };
    let payloads: [&[u8]; 4] =
        [br#"{"a":1,"ts":7}"#, br#"{"a":2}"#, br#"{"ts":"1970/01/02","a":3}"#, br#"{"ts":true}"#];
    let batch = decode(options, &named(&["a"]), &payloads);
    assert!(matches!(&batch.stamps, Stamps::Each(all) if all[..] == [7, 86_400_000]));
    let text = show(&batch);
    assert!(text.starts_with("1\n! cannot find timestamp field ts in"), "{text}");
    assert!(text.contains("3\n! cannot convert timestamp field ts to timestamp with error"));
}

#[test]
fn metadata_of_messages() {
    let text = br#"dev/1{"a":1}[{"a":2},{"a":3}]x"#;
    let extra = Arc::new(Object::from([("k".into(), Value::str("v"))]));
    let meta = MsgMeta { topic: (0, 5), packet_id: 9, qos: 1, extra: Some(extra) };
    let msgs = vec![
        Msg { payload: (5, 7), meta: meta.clone() },
        Msg { payload: (29, 1), meta: meta.clone() },
        Msg { payload: (12, 17), meta: MsgMeta { topic: (0, 3), ..meta } },
    ];
    let mut decoder = Decoder::new(DecodeOptions::default()).unwrap();
    let mut fields: Vec<Option<Field>> = ["topic", "qos", "messageId", "k", "none", "file"]
        .iter()
        .map(|k| Some(Field::Meta(Str::from(*k))))
        .collect();
    fields.push(Some(Field::MetaWhole));
    decoder.set_fields(&fields);
    let raw = RawBatch {
        payloads: Payloads::Bytes { bytes: text.as_slice().into(), msgs },
        meta: Some(Arc::new(Object::from([("file".into(), Value::str("f"))]))),
        ts: 5,
        ack: None,
    };
    let batch = decoder.decode(raw);
    let row = |topic: &str| {
        format!(
            "\"{topic}\" 1 9 \"v\" - \"f\" {{\"file\":\"f\",\"k\":\"v\",\"messageId\":9,\
             \"qos\":1,\"topic\":\"{topic}\"}}\n"
        )
    };
    let error = "! cannot parse JSON: expected a value at byte 0, found 'x'\n";
    assert_eq!(show(&batch), format!("{}{error}{}{}", row("dev/1"), row("dev"), row("dev")));
    assert_eq!(batch.messages, 3);
}

#[test]
fn sources_that_give_rows() {
    let row = |text: &str, ts| SourceRow {
        data: json::parse(text.as_bytes()).unwrap().as_object().unwrap().clone(),
        meta: None,
        ts,
    };
    let rows = vec![row(r#"{"a":1,"z":2}"#, 1), row(r#"{"b":"x"}"#, 2)];
    let raw = RawBatch { payloads: Payloads::Rows(rows), meta: None, ts: 0, ack: None };
    let mut decoder = Decoder::new(DecodeOptions::default()).unwrap();
    decoder.set_fields(&[named(&["a", "b"]), vec![Some(Field::Whole)]].concat());
    let batch = decoder.decode(raw.clone());
    assert_eq!(show(&batch), "1 - {\"a\":1,\"z\":2}\n- \"x\" {\"b\":\"x\"}\n");
    assert!(matches!(&batch.stamps, Stamps::Each(all) if all[..] == [1, 2]));
    let mut decoder = Decoder::new(typed(&[("a", ColType::Bigint)], true)).unwrap();
    decoder.set_fields(&[named(&["a"]), vec![Some(Field::Whole)]].concat());
    assert_eq!(
        show(&decoder.decode(raw)),
        "1 {\"a\":1}\n! error in preprocessor: field a is not found\n"
    );
}

#[test]
fn fields_may_change_between_batches() {
    let mut decoder = Decoder::new(DecodeOptions::default()).unwrap();
    let batch = || RawBatch::of_payloads(&[br#"{"a":1,"b":2}"#, br#"{"a":3,"b":4}"#], 0);
    decoder.set_fields(&named(&["a"]));
    assert_eq!(show(&decoder.decode(batch())), "1\n3\n");
    decoder.set_fields(&named(&["a", "b"]));
    assert_eq!(show(&decoder.decode(batch())), "1 2\n3 4\n");
    decoder.set_fields(&[None, Some(Field::Named("b".into()))]);
    assert_eq!(show(&decoder.decode(batch())), "- 2\n- 4\n");
}

#[test]
fn binary_and_delimited_and_urlencoded() {
    let of = |format: &str| DecodeOptions { format: format.into(), ..Default::default() };
    let whole = vec![Some(Field::Whole)];
    let fields = [named(&["self", "x"]), whole.clone()].concat();
    assert_eq!(
        run(of("BINARY"), &fields, &["abc", ""]),
        "\"YWJj\" - {\"self\":\"YWJj\"}\n\"\" - {\"self\":\"\"}\n"
    );
    let fields = [named(&["col0", "col2", "col7"]), whole.clone()].concat();
    assert_eq!(
        run(of("delimited"), &fields, &["1,,\"q,r\"", ""]),
        "\"1\" \"\\\"q\" - {\"col0\":\"1\",\"col1\":\"\",\"col2\":\"\\\"q\",\"col3\":\"r\\\"\"}\n\
         \"\" - - {\"col0\":\"\"}\n"
    );
    let names = DecodeOptions {
        fields: vec!["a".into(), "b".into()],
        delimiter: "::".into(),
        ..of("delimited")
    };
    let fields = [named(&["b", "a"]), whole.clone()].concat();
    assert_eq!(
        run(names, &fields, &["1::2::3", "4"]),
        "\"2\" \"1\" {\"a\":\"1\",\"b\":\"2\"}\n- \"4\" {\"a\":\"4\"}\n"
    );
    let fields = [named(&["a"]), whole].concat();
    assert_eq!(
        run(of("urlencoded"), &fields, &["a=1&b=x+%C3%A9&a=2", "zz", "a=%4"]),
        "[\"1\",\"2\"] {\"a\":[\"1\",\"2\"],\"b\":\"x é\"}\n- {\"zz\":\"\"}\n\
         ! invalid URL escape \"%4\": two hexadecimal digits must follow %\n"
    );
    let error = Decoder::new(of("avro")).unwrap_err().to_string();
    assert!(error.starts_with("format type avro not supported"), "{error}");
}
