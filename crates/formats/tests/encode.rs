//! Rows in, bytes out.

use rekuiper_formats::{EncodeOptions, Encoder};
use rekuiper_value::{Object, Value, json};

fn row(text: &str) -> Object {
    (**json::parse(text.as_bytes()).unwrap().as_object().unwrap()).clone()
}

fn encoder(format: &str) -> Encoder {
    Encoder::new(EncodeOptions { format: format.into(), ..Default::default() }).unwrap()
}

fn one(format: &str, text: &str) -> String {
    let mut out = Vec::new();
    match encoder(format).encode(&row(text), &mut out) {
        Ok(()) => String::from_utf8(out).unwrap(),
        Err(error) => format!("! {error}"),
    }
}

fn list(encoder: &mut Encoder, texts: &[&str]) -> String {
    let rows: Vec<Object> = texts.iter().map(|t| row(t)).collect();
    let mut out = Vec::new();
    match encoder.encode_list(&rows, &mut out) {
        Ok(()) => String::from_utf8(out).unwrap(),
        Err(error) => format!("! {error}"),
    }
}

#[test]
fn each_format_writes_a_row() {
    let text = r#"{"b":[1,2.5],"a":"x y<","n":null,"m":{"x":1},"big":1e21}"#;
    assert_eq!(
        one("json", text),
        r#"{"a":"x y\u003c","b":[1,2.5],"big":1e+21,"m":{"x":1},"n":null}"#
    );
    assert_eq!(one("delimited", text), "x y<,[1 2.5],1000000000000000000000,map[x:1],");
    assert_eq!(
        one("urlencoded", text),
        "a=x+y%3C&b=1&b=2.5&big=1000000000000000000000&m=map%5Bx%3A1%5D&n="
    );
    assert!(one("binary", text).starts_with("! field self not exist"));
    assert_eq!(one("binary", r#"{"self":"raw"}"#), "raw");
}

#[test]
fn lists() {
    let rows = [r#"{"a":1,"b":2}"#, r#"{"b":3,"c":4}"#];
    assert_eq!(list(&mut encoder("json"), &rows), r#"[{"a":1,"b":2},{"b":3,"c":4}]"#);
    let mut lines = encoder("delimited");
    assert_eq!(list(&mut lines, &rows), "1,2\n,3");
    assert_eq!(lines.header().as_deref(), Some("a,b"));
    assert!(list(&mut encoder("urlencoded"), &rows).contains("set sendSingle to true"));
}

#[test]
fn a_number_without_json_form_is_an_error() {
    let row = Object::from([("a".into(), Value::Float(f64::NAN))]);
    assert!(encoder("json").encode(&row, &mut Vec::new()).is_err());
}
