//! Which statements, definitions and graphs are accepted, and what describe gives back of them:
//! the recorded cases of `tests/grammar`, through REST. Nothing is run.

mod common;

use std::collections::HashMap;

use common::golden::{folder, read, same};
use common::{Server, http};
use serde_json::{Map, Value, json};

/// Cases not followed, see docs/deviations.md; each must still differ, so that the list cannot rot.
const NOT_FOLLOWED: &[(&str, &str)] = &[
    ("select/source_temp_stream", "a temporary stream is usable in any rule"),
    ("graph/source_temp_stream", "a temporary stream is usable in any rule"),
    ("graph/sql_plain_rule_temp_stream", "a temporary stream is usable in any rule"),
];

const CHECKED: [&str; 5] = ["accept", "describe", "schema", "gone", "reply"];
const RULE: &str = "grammar_case";

fn file(name: &str, at_least: usize) {
    let server = Server::start("grammar", &[]);
    let mut run = Run { url: &server.url, have: HashMap::new() };
    let (mut count, mut wrong) = (0, Vec::new());
    for case in read(&folder("grammar").join(format!("{name}.jsonl"))) {
        count += 1;
        let full = format!("{name}/{}", case["name"].as_str().unwrap_or_default());
        let left_out = NOT_FOLLOWED.iter().any(|(n, _)| *n == full);
        match (left_out, run.differs(&case)) {
            (true, None) => wrong.push(format!("{full} is as recorded now: unlist it")),
            (false, Some(why)) => wrong.push(format!("{full}: {why}")),
            _ => {}
        }
    }
    server.stop();
    assert!(count >= at_least, "{name}: only {count} cases");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

/// `text`, or parts that are repeated; `{i}` in a part stands for the number of its repetition.
fn text_of(case: &Value, key: &str) -> String {
    if let Some(text) = case[key].as_str() {
        return text.to_owned();
    }
    let mut out = String::new();
    for part in case[format!("{key}_parts")].as_array().into_iter().flatten() {
        let (text, times) = (part[0].as_str().unwrap_or_default(), part[1].as_u64().unwrap_or(0));
        for i in 0..times {
            out.push_str(&text.replace("{i}", &i.to_string()));
        }
    }
    out
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.trim().into())
}

fn texts(list: &Value) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

struct Run<'a> {
    url: &'a str,
    /// What stands, `streams/NAME` to its definition; kept while cases want the same.
    have: HashMap<String, String>,
}

type Found = Map<String, Value>;

impl Run<'_> {
    fn call(&self, method: &str, path: &str, body: Value) -> (u16, String) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        match http::call(self.url, method, path, &[], body.as_bytes()) {
            Ok(answer) => (answer.status, answer.body),
            Err(why) => (0, format!("no answer: {why}")),
        }
    }

    fn drop(&mut self, what: &str) {
        let (kind, name) = what.split_once('/').unwrap_or(("streams", what));
        for k in ["streams", "tables"] {
            self.have.remove(&format!("{k}/{name}"));
        }
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~".contains(&b);
        let put = |b: u8| if plain(b) { (b as char).to_string() } else { format!("%{b:02X}") };
        let name: String = name.bytes().map(put).collect();
        self.call("DELETE", &format!("/{kind}/{name}?force=true"), Value::Null);
    }

    /// Makes the streams that a case needs.
    fn ready(&mut self, streams: &Value) -> Result<(), String> {
        for s in streams.as_array().into_iter().flatten() {
            let text = |key: &str| s[key].as_str().unwrap_or_default();
            let (name, with) = (text("name"), text("with"));
            let kind = s["kind"].as_str().unwrap_or("STREAM").to_uppercase();
            let upper = with.to_uppercase().replace(' ', "");
            let source = format!("grammar/{name}");
            let usual = [("TYPE", "memory"), ("DATASOURCE", source.as_str()), ("FORMAT", "json")];
            let usual = usual.iter().filter(|(k, _)| !upper.contains(&format!("{k}=")));
            let mut options: Vec<String> = usual.map(|(k, v)| format!("{k}=\"{v}\"")).collect();
            if !with.is_empty() {
                options.insert(0, with.to_owned());
            }
            let (fields, options) = (text("fields"), options.join(", "));
            let ddl = format!("CREATE {kind} `{name}` ({fields}) WITH ({options})");
            let plural = format!("{}s", kind.to_lowercase());
            let what = format!("{plural}/{name}");
            if self.have.get(&what) == Some(&ddl) {
                continue;
            }
            self.drop(&format!("tables/{name}"));
            self.drop(&format!("streams/{name}"));
            let (status, text) = self.call("POST", &format!("/{plural}"), json!({"sql": ddl}));
            if !(200..300).contains(&status) {
                return Err(format!("stream not made: {text}"));
            }
            self.have.insert(what, ddl);
        }
        Ok(())
    }

    /// What is not as recorded, if anything.
    fn differs(&mut self, case: &Value) -> Option<String> {
        let found = match self.run(case) {
            Ok(found) => found,
            Err(why) => return Some(why),
        };
        let null = Value::Null;
        let bad = |key: &&str| {
            let (want, got) = (&case[*key], found.get(*key).unwrap_or(&null));
            match *key {
                "accept" if *want == "any" => got.is_null(),
                "accept" => want != got,
                _ => case.get(*key).is_some() && !same(want, got),
            }
        };
        let key = CHECKED.iter().find(|k| bad(k))?;
        let got = found.get(*key).unwrap_or(&null);
        Some(format!("{key}: want {}, got {got}: {}", case[*key], found["message"]))
    }

    fn run(&mut self, case: &Value) -> Result<Found, String> {
        self.ready(&case["streams"])?;
        if case.get("ddl").is_some() || case.get("ddl_parts").is_some() {
            let mut clean = texts(&case["drops"]);
            clean.extend(case["makes"].as_str().map(str::to_owned));
            clean.iter().for_each(|what| self.drop(what));
            let found = self.ddl(case);
            clean.iter().for_each(|what| self.drop(what));
            return found;
        }
        let mut rule = match case.get("rule") {
            Some(rule) => rule.clone(),
            None => json!({"sql": text_of(case, "sql"), "actions": [{"nop": {}}]}),
        };
        if let Some(options) = case.get("options").filter(|_| case.get("rule").is_none()) {
            rule["options"] = options.clone();
        }
        (rule["id"], rule["triggered"]) = (RULE.into(), false.into());
        let (status, text) = self.call("POST", "/rules", rule);
        if (200..300).contains(&status) {
            self.call("DELETE", &format!("/rules/{RULE}"), Value::Null);
        }
        Ok(outcome(status, &text))
    }

    fn ddl(&mut self, case: &Value) -> Result<Found, String> {
        for ddl in texts(&case["setup"]) {
            let (status, text) = self.call("POST", "/streams", json!({"sql": ddl}));
            if !(200..300).contains(&status) {
                return Err(format!("setup refused: {text}"));
            }
        }
        let (status, text) = self.call("POST", "/streams", json!({"sql": text_of(case, "ddl")}));
        let mut found = outcome(status, &text);
        if found.get("accept") != Some(&Value::Bool(true)) {
            return Ok(found);
        }
        found.insert("reply".into(), text.into());
        if let Some(makes) = case["makes"].as_str() {
            let (status, text) = self.call("GET", &format!("/{makes}"), Value::Null);
            if !(200..300).contains(&status) {
                found.insert("gone".into(), true.into());
                return Ok(found);
            }
            found.insert("describe".into(), parse(&text));
            let (status, text) = self.call("GET", &format!("/{makes}/schema"), Value::Null);
            let good = (200..300).contains(&status);
            let schema = if good { parse(&text) } else { json!({"refused": true}) };
            found.insert("schema".into(), schema);
        }
        Ok(found)
    }
}

/// A server error or no answer is no verdict.
fn outcome(status: u16, text: &str) -> Found {
    let mut found = Found::new();
    found.insert("message".into(), text.trim().into());
    match status {
        200..300 => found.insert("accept".into(), true.into()),
        400..500 => found.insert("accept".into(), false.into()),
        _ => None,
    };
    found
}

macro_rules! files {
    ($($name:ident $at_least:literal;)*) => {
        $(#[test]
        fn $name() {
            file(stringify!($name), $at_least);
        })*
    };
}

files! {
    ddl 315;
    deviations_grammar 88;
    functions 898;
    graph 110;
    select 802;
    superset 7;
}
