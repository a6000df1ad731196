//! Protobuf: rows to messages and back by schemas compiled here.
#![cfg(feature = "protobuf")]

mod common;

use common::{decode, named, show};
use rekuiper_formats::proto::{MessageType, Schema};
use rekuiper_formats::{DecodeOptions, EncodeOptions, Encoder};
use rekuiper_value::{ColType, json};

const SCHEMA: &str = r#"
syntax = "proto3";
package plant;
import "other.proto";
import "google/protobuf/wrappers.proto";
enum Kind { NONE = 0; BIG = 7; }
message Reading {
  string s = 1; int64 i = 2; float f = 3; bool b = 4; bytes y = 5; Kind k = 6;
  Part part = 7; repeated int32 list = 8; repeated Part parts = 9;
  optional int32 maybe = 10; oneof either { string left = 11; string right = 12; }
  google.protobuf.Int64Value w = 13; map<string, string> m = 14;
}
"#;
const OTHER: &str = "syntax = \"proto3\"; package plant; message Part { double d = 1; }";

fn reading() -> MessageType {
    let schema = Schema::compile("reading.proto", |name| match name {
        "reading.proto" => Some(SCHEMA.into()),
        "other.proto" => Some(OTHER.into()),
        _ => None,
    })
    .unwrap();
    assert_eq!(schema.messages(), ["Reading"]);
    assert!(schema.message("Nope").unwrap_err().to_string().starts_with("message type Nope"));
    schema.message("Reading").unwrap()
}

fn encode(row: &str) -> Result<Vec<u8>, String> {
    let options =
        EncodeOptions { format: "protobuf".into(), message: Some(reading()), ..Default::default() };
    let row = json::parse(row.as_bytes()).unwrap();
    let mut out = Vec::new();
    let mut encoder = Encoder::new(options).map_err(|e| e.to_string())?;
    encoder.encode_value(&row, &mut out).map_err(|e| e.to_string())?;
    Ok(out)
}

fn round(row: &str) -> String {
    let options =
        DecodeOptions { format: "protobuf".into(), message: Some(reading()), ..Default::default() };
    let mut fields = named(&["i"]);
    fields.push(Some(rekuiper_value::Field::Whole));
    let bytes = encode(row).unwrap();
    show(&decode(options, &fields, &[&bytes, b"\xff"]))
}

#[test]
fn there_and_back() {
    let got = round(
        r#"{"s":"x","i":1.5,"f":0.1,"b":true,"y":"raw","k":7,"part":{"d":2},"list":[1,2],
           "parts":[{"d":1},{}],"maybe":0,"right":"r","w":5,"z":1}"#,
    );
    let want = r#"1 {"b":true,"f":0.10000000149011612,"i":1,"k":7,"list":[1,2],"maybe":0,"part":{"d":2},"parts":[{"d":1},{"d":0}],"right":"r","s":"x","w":5,"y":"cmF3"}"#;
    assert_eq!(got.lines().next(), Some(want));
    assert!(got.lines().nth(1).unwrap().starts_with("! cannot decode the payload as protobuf"));
}

#[test]
fn absent_fields() {
    let want = r#"0 {"b":false,"f":0,"i":0,"k":0,"list":null,"part":null,"parts":[],"s":"","w":null,"y":null}"#;
    assert_eq!(round("{}").lines().next(), Some(want));
}

#[test]
fn refusals() {
    assert_eq!(
        encode(r#"{"s":5}"#).unwrap_err(),
        "invalid type for string type field 's': cannot convert float64(5) to string"
    );
    assert!(encode(r#"{"m":{}}"#).unwrap_err().starts_with("map field m"));
    assert!(encode(r#"[{"i":1},{"i":2}]"#).unwrap_err().contains("set sendSingle to true"));
    assert!(Schema::compile("a.proto", |_| Some("message {".into())).is_err());
    assert!(Schema::compile("a.proto", |_| None).is_err());
}

#[test]
fn columns_of_a_message() {
    let columns = reading().columns();
    assert_eq!(columns[0], ("s".into(), ColType::String));
    let part = ColType::Struct(vec![("d".into(), ColType::Float)]);
    assert_eq!(columns[8], ("parts".into(), ColType::Array(Box::new(part))));
    assert_eq!(columns[12], ("w".into(), ColType::Bigint));
    assert_eq!(columns.len(), 13);
}
