use super::*;

#[derive(Default)]
struct Rows(Vec<Vec<Cell>>);
impl RowSink for Rows {
    fn row(&mut self, cells: &[Cell], _: Cell) -> Result<(), Fault> {
        self.0.push(cells.to_vec());
        Ok(())
    }
}

fn kinds(names: &[&str], payloads: &[&str]) -> String {
    let names: Vec<Str> = names.iter().map(|n| Str::from(*n)).collect();
    let mut scanner = Scanner::new(&names);
    let mut out = String::new();
    for payload in payloads {
        let mut rows = Rows::default();
        let bytes = payload.as_bytes();
        match scanner.payload(bytes, 0, bytes.len(), &mut rows) {
            Err(fault) => out += &format!("{}\n", fault.error(bytes, 0)),
            Ok(()) => {
                for row in rows.0 {
                    for cell in row {
                        let text = String::from_utf8_lossy(cell.slice(bytes)).into_owned();
                        out += &format!("{:?}:{text} ", cell.kind());
                    }
                    out += "\n";
                }
            }
        }
    }
    out
}

#[test]
fn finds_cells_and_their_kinds() {
    let got = kinds(
        &["a", "b"],
        &[
            r#"{"a":1,"b":"x"}"#,
            r#"{"a":-0.5,"b":"x<"}"#,
            r#" { "b" : null , "x":[1,{"a":2}], "a":1.50 } "#,
            r#"{"a":1,"a":{"a":[]},"b":"é"}"#,
            r#"{"\u0061":12345678901234567,"b":true}"#,
            r#"[{"a":1e3},{"b":"\n"},{}]"#,
            "[]",
            "{}",
        ],
    );
    let want = "Int:1 Plain:x \nDecimal:-0.5 Escaped:x< \nNumber:1.50 Null:null \n\
        Object:{\"a\":[]} Plain:é \nNumber:12345678901234567 True:true \nNumber:1e3 Missing: \n\
        Missing: Escaped:\\n \nMissing: Missing: \nMissing: Missing: \n";
    assert_eq!(got, want);
}

#[test]
fn says_what_is_wrong() {
    let got = kinds(&["a"], &["", "5", "[1]", "nul", r#"{"a":1,}"#, r#"{"a":01}"#, "{\"a\":\"x"]);
    let want = "cannot parse JSON: the payload is empty\n\
        only map[string]interface{} and []map[string]interface{} is supported\n\
        only map[string]interface{} and []map[string]interface{} is supported\n\
        cannot parse JSON: expected a value at byte 0, found 'n'\n\
        cannot parse JSON: expected a key in quotes at byte 7, found '}'\n\
        cannot parse JSON: expected a number without leading zero at byte 5, found '0'\n\
        cannot parse JSON: expected the end of the string at byte 5, found '\"'\n";
    assert_eq!(got, want);
}

#[test]
fn a_shape_never_changes_the_answer() {
    let long = "k".repeat(40);
    let a = format!(r#"{{"id":1,"{long}":2,"z":"q"}}"#);
    let b = format!(r#"{{"id":3,"z":"r","{long}":4,"new":[]}}"#);
    let c = r#"{"z":"s"}"#.to_string();
    let names = ["id", "z", &long];
    let order = [&a, &a, &b, &c, &a, &b, &b, &b, &b, &b, &c, &a];
    let texts: Vec<&str> = order.iter().map(|s| s.as_str()).collect();
    let together = kinds(&names, &texts);
    let alone: String = texts.iter().map(|t| kinds(&names, &[t])).collect();
    assert_eq!(together, alone);
    assert!(together.starts_with("Int:1 Plain:q Int:2 \n"));
}

#[test]
fn nothing_beyond_the_payload_is_accepted() {
    let batch = br#"{"a":"x","b":12}3,"c":"y"}"}"#;
    for end in 0..batch.len() {
        let mut rows = Rows::default();
        let got = Scanner::new(&["a".into()]).payload(batch, 0, end, &mut rows).is_ok();
        let want = serde_json::from_slice::<serde_json::Value>(&batch[..end]).is_ok();
        assert_eq!(got, want, "{end}");
    }
}
