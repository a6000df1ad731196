//! `kuiper describe rule NAME`: the definition with every default filled in. The API gives back
//! the text as it was sent, so the defaults are put in here.

use serde_json::{Map, Value, json};

use super::super::shared::rules;
use crate::command::{Call, Command};
use crate::godur;
use crate::outcome::{Answer, Answered};

pub const DEF: Command = Command {
    verb: "describe",
    noun: "rule",
    takes: "NAME",
    about: "the definition of a rule with all options",
    flags: &[],
    run,
};

fn run(call: &Call) -> Answered {
    let name = call.only("rule name")?;
    let reply = call.client.get(&rules::path(name))?;
    let told = reply.json().map_err(|e| e.after("Desc rule error : "))?;
    Ok(Answer::Data(complete(name, &told)))
}

const DURATIONS: [&str; 4] =
    ["lateTolerance", "checkpointInterval", "duration", "forceExitTimeout"];

fn complete(name: &str, told: &Value) -> Value {
    let mut rule = Map::new();
    rule.insert("triggered".into(), true.into());
    rule.insert("id".into(), name.into());
    let mut options = defaults();
    for (key, value) in told.as_object().into_iter().flatten() {
        if key != "options" && !value.is_null() {
            rule.insert(key.clone(), value.clone());
        }
    }
    for (key, value) in told["options"].as_object().into_iter().flatten() {
        let given = if DURATIONS.contains(&key.as_str()) {
            godur::shown(value)
        } else {
            value.clone()
        };
        options.insert(key.clone(), given);
    }
    rule.insert("options".into(), options.into());
    rule.into()
}

fn defaults() -> Map<String, Value> {
    let all = json!({
        "debug": false, "isEventTime": false, "lateTolerance": "1s", "concurrency": 1,
        "bufferLength": 1024, "sendMetaToSink": false, "sendNilField": false,
        "sendError": false, "checkpointInterval": "5m0s", "restartStrategy": {},
    });
    match all {
        Value::Object(all) => all,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_stands_and_the_rest_is_filled_in() {
        let told = json!({"sql": "SELECT 1", "actions": [], "triggered": false,
                          "options": {"lateTolerance": 1500, "qos": 1}});
        let shown = complete("r1", &told);
        assert_eq!(shown["id"], "r1");
        assert_eq!(shown["triggered"], false);
        assert_eq!(shown["options"]["lateTolerance"], "1.5s");
        assert_eq!(shown["options"]["qos"], 1);
        assert_eq!(shown["options"]["checkpointInterval"], "5m0s");
    }
}
