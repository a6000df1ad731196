//! A rule as JSON: what is in it, what is refused, and what is taken when something is left out.

use std::sync::{Arc, Mutex};

use rekuiper_sql::{Statement, parse_statement};
use serde_json::{Map, Value};

use crate::config::duration;
use crate::error::{ApiError, ApiResult};
use crate::web::json::{self, boolean, int, member, nested, text, texts};

/// One entry of `actions`.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    pub sink: String,
    pub props: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RuleDef {
    pub id: String,
    /// Empty when not given; the id is shown then.
    pub name: String,
    pub version: String,
    /// Exactly one of `sql` and `graph` is there.
    pub sql: Option<String>,
    // boxed: most rules have none
    pub graph: Option<Box<Map<String, Value>>>,
    pub actions: Vec<Action>,
    /// One for all rules with the same: most have none of their own.
    pub options: Arc<RuleOptions>,
    pub triggered: bool,
    pub temp: bool,
    pub tags: Option<Vec<String>>,
    /// As it was sent.
    pub text: String,
}

/// Times in milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleOptions {
    pub debug: bool,
    pub log_filename: String,
    pub is_event_time: bool,
    pub late_tolerance: i64,
    pub concurrency: usize,
    pub buffer_length: usize,
    pub send_meta_to_sink: bool,
    pub send_nil_field: bool,
    pub send_error: bool,
    pub qos: i64,
    pub checkpoint_interval: i64,
    pub restart_attempts: i64,
    pub cron: String,
    pub duration: String,
    pub cron_datetime_range: Vec<Range>,
    pub plan_optimize_strategy: Map<String, Value>,
    pub notify_sub: bool,
    pub disable_buffer_full_discard: bool,
    pub enable_save_state_before_stop: bool,
    pub use_slice_tuple: bool,
}

/// The options of the rule before, where they are the same.
fn shared(options: RuleOptions) -> Arc<RuleOptions> {
    static LAST: Mutex<Option<Arc<RuleOptions>>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(|e| e.into_inner());
    match &*last {
        Some(known) if **known == options => known.clone(),
        _ => last.insert(Arc::new(options)).clone(),
    }
}

/// A stretch of time in which a rule runs; text in the zone of the configuration, or ms.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Range {
    pub begin: String,
    pub end: String,
    pub begin_ms: i64,
    pub end_ms: i64,
}

impl Default for RuleOptions {
    fn default() -> Self {
        RuleOptions {
            debug: false,
            log_filename: String::new(),
            is_event_time: false,
            late_tolerance: 1_000,
            concurrency: 1,
            buffer_length: 1_024,
            send_meta_to_sink: false,
            send_nil_field: false,
            send_error: false,
            qos: 0,
            checkpoint_interval: 300_000,
            restart_attempts: 0,
            cron: String::new(),
            duration: String::new(),
            cron_datetime_range: Vec::new(),
            plan_optimize_strategy: Map::new(),
            notify_sub: false,
            disable_buffer_full_discard: false,
            enable_save_state_before_stop: false,
            use_slice_tuple: false,
        }
    }
}

impl RuleDef {
    /// `id` is the one of the path, where there is one; `defaults` come from kuiper.yaml.
    pub fn parse(body: &str, id: Option<&str>, defaults: &RuleOptions) -> ApiResult<RuleDef> {
        let Value::Object(o) = json::strict(body.as_bytes())? else {
            return Err(ApiError::bad("a rule must be a JSON object"));
        };
        RuleDef::from_object(&o, body, id, defaults)
    }

    fn from_object(
        o: &Map<String, Value>,
        body: &str,
        path_id: Option<&str>,
        defaults: &RuleOptions,
    ) -> ApiResult<RuleDef> {
        let own = text(o, "id")?.filter(|s| !s.is_empty());
        let id = match (own, path_id) {
            (Some(own), Some(id)) if own != id => {
                return Err(ApiError::bad(format!(
                    "the rule in the body is called {own}, the one in the path {id}"
                )));
            }
            (Some(id), _) | (None, Some(id)) => id,
            (None, None) => return Err(ApiError::bad("the rule has no id")),
        };
        crate::web::check_name("rule id", id)?;
        let sql = text(o, "sql")?
            .filter(|s| !s.trim().is_empty())
            .map(str::to_owned);
        let graph = nested(o, "graph")?.cloned().map(Box::new);
        let actions = actions(o)?;
        match (&sql, &graph) {
            (Some(_), Some(_)) => {
                return Err(ApiError::bad(format!(
                    "rule {id} has both sql and graph, give one"
                )));
            }
            (None, None) => {
                return Err(ApiError::bad(format!(
                    "rule {id} has neither sql nor graph"
                )));
            }
            (Some(_), None) if actions.is_empty() => {
                return Err(ApiError::bad(format!(
                    "rule {id} has no actions, give one at least"
                )));
            }
            _ => {}
        }
        Ok(RuleDef {
            id: id.to_owned(),
            name: text(o, "name")?.unwrap_or_default().to_owned(),
            version: text(o, "version")?.unwrap_or_default().to_owned(),
            sql,
            graph,
            actions,
            options: shared(match nested(o, "options")? {
                Some(options) => RuleOptions::parse(options, defaults)?,
                None => defaults.clone(),
            }),
            triggered: boolean(o, "triggered")?.unwrap_or(true),
            temp: boolean(o, "temp")?.unwrap_or(false),
            tags: texts(o, "tags")?,
            text: body.to_owned(),
        })
    }

    pub fn shown_name(&self) -> &str {
        if self.name.is_empty() {
            &self.id
        } else {
            &self.name
        }
    }

    /// Names of the streams and tables it reads, as far as its text tells.
    pub fn sources(&self) -> Vec<String> {
        let sql = self.sql.as_deref().unwrap_or_default();
        if let Ok(Statement::Select(select)) = parse_statement(sql) {
            return select.sources().map(|s| s.name.to_string()).collect();
        }
        let nodes = self.graph.as_ref().and_then(|g| g.get("nodes"));
        let nodes = nodes.and_then(Value::as_object);
        let named = |n: &Value| n["props"]["sourceName"].as_str().map(str::to_owned);
        nodes
            .into_iter()
            .flat_map(|n| n.values().filter_map(named))
            .collect()
    }

    pub fn has_tags(&self, wanted: &[String]) -> bool {
        let own = self.tags.as_deref().unwrap_or_default();
        wanted.iter().all(|t| own.contains(t))
    }

    /// The same rule with some members set; the text is written anew, its keys in order.
    pub fn with(&self, set: &[(&str, Value)], defaults: &RuleOptions) -> ApiResult<RuleDef> {
        let mut o = match json::strict(self.text.as_bytes())? {
            Value::Object(o) => o,
            _ => Map::new(),
        };
        for (key, value) in set {
            o.insert((*key).to_owned(), value.clone());
        }
        let body = json::sorted(&Value::Object(o)).to_string();
        RuleDef::parse(&body, Some(&self.id), defaults)
    }
}

fn actions(o: &Map<String, Value>) -> ApiResult<Vec<Action>> {
    let list = match member(o, "actions") {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(other) => return Err(json::wrong("actions", "a list", other)),
    };
    let mut out = Vec::new();
    for entry in list {
        let Value::Object(entry) = entry else {
            return Err(json::wrong(
                "an action",
                "an object {sink: {properties}}",
                entry,
            ));
        };
        for (sink, props) in entry {
            let props = match props {
                Value::Object(p) => p.clone(),
                Value::Null => Map::new(),
                other => return Err(json::wrong(&format!("action {sink}"), "an object", other)),
            };
            out.push(Action {
                sink: sink.clone(),
                props,
            });
        }
    }
    out.shrink_to_fit(); // there are many rules, most with one action
    Ok(out)
}

/// A duration of a rule: text such as `1s`, or whole milliseconds.
fn time(o: &Map<String, Value>, key: &str, default: i64) -> ApiResult<i64> {
    let ms = match member(o, key) {
        None => return Ok(default),
        Some(Value::String(s)) => duration::parse(s).ok_or_else(|| {
            ApiError::bad(format!("{key}: {s:?} is no duration such as \"1.5s\""))
        })?,
        Some(v) => v.as_i64().ok_or_else(|| {
            ApiError::bad(format!(
                "{key}: duration {v} is not an integer of milliseconds"
            ))
        })?,
    };
    if ms < 0 {
        return Err(ApiError::bad(format!(
            "{key} must not be negative, but is {ms} ms"
        )));
    }
    Ok(ms)
}

fn count(o: &Map<String, Value>, key: &str, default: usize) -> ApiResult<usize> {
    match int(o, key)? {
        None => Ok(default),
        Some(n) => usize::try_from(n)
            .map_err(|_| ApiError::bad(format!("{key} must not be negative, but is {n}"))),
    }
}

impl RuleOptions {
    pub fn parse(o: &Map<String, Value>, d: &RuleOptions) -> ApiResult<RuleOptions> {
        let yes = |key: &str, default: bool| Ok::<_, ApiError>(boolean(o, key)?.unwrap_or(default));
        let word = |key: &str, d: &str| Ok::<_, ApiError>(text(o, key)?.unwrap_or(d).to_owned());
        Ok(RuleOptions {
            debug: yes("debug", d.debug)?,
            log_filename: word("logFilename", &d.log_filename)?,
            is_event_time: yes("isEventTime", d.is_event_time)?,
            late_tolerance: time(o, "lateTolerance", d.late_tolerance)?,
            concurrency: count(o, "concurrency", d.concurrency)?.max(1),
            buffer_length: match count(o, "bufferLength", d.buffer_length)? {
                0 => d.buffer_length,
                n => n,
            },
            send_meta_to_sink: yes("sendMetaToSink", d.send_meta_to_sink)?,
            send_nil_field: yes("sendNilField", d.send_nil_field)?,
            send_error: yes("sendError", d.send_error)?,
            qos: int(o, "qos")?.unwrap_or(d.qos),
            checkpoint_interval: time(o, "checkpointInterval", d.checkpoint_interval)?,
            restart_attempts: match nested(o, "restartStrategy")? {
                Some(r) => count(r, "attempts", d.restart_attempts.max(0) as usize)? as i64,
                None => d.restart_attempts,
            },
            cron: word("cron", &d.cron)?,
            duration: match member(o, "duration") {
                Some(Value::Number(n)) => format!("{n}ms"),
                _ => word("duration", &d.duration)?,
            },
            cron_datetime_range: ranges(o)?,
            plan_optimize_strategy: nested(o, "planOptimizeStrategy")?
                .cloned()
                .unwrap_or_default(),
            notify_sub: yes("notifySub", d.notify_sub)?,
            disable_buffer_full_discard: yes(
                "disableBufferFullDiscard",
                d.disable_buffer_full_discard,
            )?,
            enable_save_state_before_stop: yes(
                "enableSaveStateBeforeStop",
                d.enable_save_state_before_stop,
            )?,
            use_slice_tuple: match nested(o, "experiment")? {
                Some(e) => boolean(e, "useSliceTuple")?.unwrap_or(d.use_slice_tuple),
                None => d.use_slice_tuple,
            },
        })
    }
}

fn ranges(o: &Map<String, Value>) -> ApiResult<Vec<Range>> {
    let list = match member(o, "cronDatetimeRange") {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(other) => return Err(json::wrong("cronDatetimeRange", "a list", other)),
    };
    list.iter().map(range).collect()
}

fn range(v: &Value) -> ApiResult<Range> {
    let Value::Object(o) = v else {
        return Err(json::wrong("an entry of cronDatetimeRange", "an object", v));
    };
    let range = Range {
        begin: text(o, "begin")?.unwrap_or_default().to_owned(),
        end: text(o, "end")?.unwrap_or_default().to_owned(),
        begin_ms: int(o, "beginTimestamp")?.unwrap_or(0),
        end_ms: int(o, "endTimestamp")?.unwrap_or(0),
    };
    super::schedule::check_range(&range).map_err(ApiError::bad)?;
    Ok(range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> ApiResult<RuleDef> {
        RuleDef::parse(text, None, &RuleOptions::default())
    }

    fn options(text: &str) -> ApiResult<RuleOptions> {
        let rule = r#"{"id":"r","sql":"SELECT 1","actions":[{"nop":{}}],"options":"#;
        parse(&format!("{rule}{text}}}")).map(|r| RuleOptions::clone(&r.options))
    }

    #[test]
    fn what_is_left_out_is_filled_in() {
        let o = options(r#"{"concurrency":0}"#).unwrap();
        assert_eq!(o, RuleOptions::default());
    }

    #[test]
    fn durations_are_text_or_whole_milliseconds() {
        assert_eq!(
            options(r#"{"lateTolerance":"1.5s"}"#)
                .unwrap()
                .late_tolerance,
            1500
        );
        assert_eq!(
            options(r#"{"lateTolerance":20}"#).unwrap().late_tolerance,
            20
        );
        for bad in ["1.5", "\"soon\"", "-1", "\"-1s\""] {
            assert!(
                options(&format!(r#"{{"lateTolerance":{bad}}}"#)).is_err(),
                "{bad}"
            );
        }
    }

    #[test]
    fn wrong_types_and_negative_numbers_are_refused() {
        for bad in [
            r#"{"qos":"high"}"#,
            r#"{"bufferLength":"x"}"#,
            r#"{"bufferLength":-1}"#,
            r#"{"concurrency":-1}"#,
            r#"{"restartStrategy":{"attempts":-1}}"#,
            r#"{"sendError":1}"#,
            r#"{"cronDatetimeRange":[{"begin":"x","end":"y"}]}"#,
        ] {
            assert!(options(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_rule_needs_an_id_and_one_of_sql_and_graph() {
        assert!(parse(r#"{"sql":"SELECT 1","actions":[{"nop":{}}]}"#).is_err());
        assert!(parse(r#"{"id":"r","actions":[{"nop":{}}]}"#).is_err());
        assert!(parse(r#"{"id":"r","sql":"x","graph":{},"actions":[{"nop":{}}]}"#).is_err());
        assert!(parse(r#"{"id":"r","sql":"x","actions":[]}"#).is_err());
        assert!(parse(r#"{"id":"../r","sql":"x","actions":[{"nop":{}}]}"#).is_err());
        assert!(parse(r#"{"id":"r","graph":{}}"#).is_ok());
    }

    #[test]
    fn the_text_stays_as_sent_until_something_is_set() {
        let text = r#"{"sql":"x", "id":"r","actions":[{"nop":null}],"odd":{"b":1,"a":2}}"#;
        let rule = parse(text).unwrap();
        assert_eq!(rule.text, text);
        let set = rule
            .with(&[("triggered", false.into())], &RuleOptions::default())
            .unwrap();
        let want = r#"{"actions":[{"nop":null}],"id":"r","odd":{"a":2,"b":1},"sql":"x","#
            .to_owned()
            + r#""triggered":false}"#;
        assert_eq!(set.text, want);
        assert!(!set.triggered);
    }

    proptest! {
        #[test]
        fn never_panics(text in ".*") {
            let _ = parse(&text);
        }
    }
}
