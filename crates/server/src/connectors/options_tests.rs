//! What is said of a connector's properties here, against what the connector asks for when it is
//! made.

use std::collections::BTreeSet;

use rekuiper_connect::props::keys_asked;
use rekuiper_connect::{Opened, Props, intake};
use serde_json::{Value, json};

use super::ALL;

/// Asked for by sources, and said of all of them or of none.
const OF_STREAMS: &[&str] = &["format", "delimiter", "datasource"];

/// Keys with a reason not to be shown: (connector, key, why).
const NOT_SHOWN: &[(&str, &str, &str)] = &[
    ("", "renegotiationSupport", "TLS is never negotiated a second time, as never is the default"),
    ("memory", "sendInterval", "its rows do not come out of one payload"),
    ("simulator", "sendInterval", "its rows do not come out of one payload"),
    ("", "merger", "no merger exists in this build"),
    ("", "payloadBatchField", "asked for only to refuse it"),
    ("sse", "datasource", "the other name of endpoint"),
];

/// Shown keys that the connector does not ask for when it is made: (connector, key, who does).
const ASKED_ELSEWHERE: &[(&str, &str, &str)] = &[
    ("", "useInt64ForWholeNumber", "the decoder of a stream"),
    ("file", "delimiter", "the encoder of a sink"),
];

/// Properties with which a connector can be made, such that it asks for as much as possible.
fn variants(name: &str) -> Vec<Value> {
    match name {
        "mqtt" => vec![json!({"server": "ssl://127.0.0.1:1", "topic": "t", "tls": "default"})],
        "file" => vec![
            json!({"path": "x", "actionAfterRead": 2, "moveTo": "y"}),
            json!({"path": "x", "fileType": "csv", "format": "delimited"}),
        ],
        "memory" => vec![json!({"topic": "t", "rowkindField": "k", "keyField": "x"})],
        "simulator" => vec![json!({"data": []}), json!({"data": [{"a": 1}]})],
        "rest" | "httppull" => {
            vec![json!({"url": "http://127.0.0.1:1", "tls": "default"})]
        }
        "websocket" => vec![
            json!({"path": "/x"}),
            json!({"addr": "127.0.0.1:1", "path": "/x", "scheme": "wss", "tls": "default"}),
        ],
        "sse" => vec![json!({"endpoint": "/x"}), json!({"datasource": "/x"})],
        _ => vec![json!({})],
    }
}

/// The variant, with what any source may be asked for.
fn props(value: &Value) -> Props {
    let mut all = value.as_object().cloned().unwrap_or_default();
    for (key, own) in
        [("interval", json!(5)), ("payloadFormat", json!("json")), ("payloadField", json!("p"))]
    {
        all.entry(key).or_insert(own);
    }
    Props::new(all)
}

/// Every property set to something harmless, where that leads to further questions.
fn asked(name: &str, sink: bool) -> Option<BTreeSet<String>> {
    let made = rekuiper_connect::find(name)?;
    let mut all = BTreeSet::new();
    let mut failed = Vec::new();
    for variant in variants(name) {
        let (done, keys) = keys_asked(|| match (sink, made.source, made.sink) {
            (true, _, Some(open)) => open(&props(&variant)).map(drop),
            (false, Some(open), _) => {
                let _ = open("", &props(&variant));
                match open("/tmp", &props(&variant))? {
                    Opened::Source(source) => intake::wrap(source, &props(&variant)).map(drop),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        });
        failed.extend(done.err().map(|e| e.text));
        all.extend(keys);
    }
    assert!(failed.len() < variants(name).len(), "{name}: {failed:?}");
    Some(all)
}

fn listed(list: &[(&str, &str, &str)], name: &str, key: &str) -> bool {
    list.iter().any(|(of, k, _)| (of.is_empty() || *of == name) && k.eq_ignore_ascii_case(key))
}

#[test]
fn what_is_shown_is_what_is_asked_for() {
    let mut wrong = Vec::new();
    for c in ALL {
        for sink in [false, true] {
            let shown: Vec<&str> = match sink {
                true => c.sink_props().map(|p| p.name).collect(),
                false => c.source_props().map(|p| p.name).collect(),
            };
            let side = if sink { "sink" } else { "source" };
            let there = if sink { c.sink.is_some() } else { c.source.is_some() };
            let Some(asked) = asked(c.name, sink).filter(|_| there) else { continue };
            for key in &asked {
                let known = shown.iter().any(|s| s.eq_ignore_ascii_case(key));
                let of_stream = OF_STREAMS.contains(&key.as_str());
                if !known && !of_stream && !listed(NOT_SHOWN, c.name, key) {
                    wrong.push(format!("{side} {}: {key} is asked for, but not shown", c.name));
                }
            }
            for key in shown {
                let known = asked.iter().any(|a| a.eq_ignore_ascii_case(key));
                if !known && !listed(ASKED_ELSEWHERE, c.name, key) {
                    wrong.push(format!("{side} {}: {key} is shown, but not asked for", c.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
