//! Traces: the way of single rows through a rule, kept in memory while a rule is traced.
//!
//! A rule that is not traced pays one flag a batch. A traced one runs row by row, so that the
//! counters of its nodes tell which of them a row has reached. Results of windows come later than
//! their rows: such a trace ends at the window.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use rekuiper_functions::Host;
use rekuiper_ops::NodeStats;
use rekuiper_value::{Batch, Field, Object, Value};
use serde_json::{Value as Json, json};

use crate::host::HostServices;
use crate::metrics::{NodeKind, NodeRef};
use std::sync::atomic::Ordering::Relaxed;

/// Longest text of a row that a trace keeps.
const DATA_BYTES_MAX: usize = 16 << 10;

/// Which rows are traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceMode {
    /// Every row.
    Always,
    /// Rows that bring the context of a trace in their metadata (`traceId`).
    Head,
}

/// Where the context stands in a row's metadata.
pub const CONTEXT: &str = "traceId";

/// Gets every trace that ends, as a tree of spans; must not wait.
pub type Listener = Box<dyn Fn(Json) + Send + Sync>;

/// Traces of all rules; the oldest give way.
pub struct TraceStore {
    capacity: usize,
    kept: Mutex<Kept>,
    listener: Mutex<Option<Listener>>,
}

#[derive(Default)]
struct Kept {
    order: VecDeque<Arc<str>>,
    /// By id. Rules that take over a context share an id.
    traces: HashMap<Arc<str>, Vec<Trace>>,
}

/// The way of one row.
struct Trace {
    rule: Arc<str>,
    /// Span that the context came from; zeros where it began here.
    parent: String,
    start_us: i64,
    end_us: i64,
    spans: Vec<Span>,
}

struct Span {
    name: Arc<str>,
    id: String,
    /// Place of the span before it among the trace's.
    before: Option<usize>,
    data: Arc<str>,
}

impl TraceStore {
    /// With a capacity of 0 none is kept: they go to the listener alone.
    pub fn new(capacity: usize) -> Arc<Self> {
        Arc::new(TraceStore { capacity, kept: Mutex::default(), listener: Mutex::default() })
    }

    /// Who gets the traces from now on; `None`: nobody.
    pub fn listen(&self, listener: Option<Listener>) {
        *self.listener.lock().unwrap_or_else(|e| e.into_inner()) = listener;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Ids of a rule's traces, the oldest first; of more than `limit` the newest.
    pub fn of_rule(&self, rule: &str, limit: usize) -> Vec<String> {
        let kept = self.lock();
        let own = |id: &&Arc<str>| {
            kept.traces.get(*id).is_some_and(|all| all.iter().any(|t| &*t.rule == rule))
        };
        let ids: Vec<String> = kept.order.iter().filter(own).map(|id| id.to_string()).collect();
        ids[ids.len().saturating_sub(limit)..].to_vec()
    }

    /// A trace as a tree of spans.
    pub fn get(&self, id: &str) -> Option<Json> {
        let kept = self.lock();
        let mut trees = kept.traces.get(id)?.iter().map(|trace| trace.tree(id, 0));
        let mut first = trees.next()?;
        if let Some(Json::Array(below)) = first.get_mut("ChildSpan") {
            below.extend(trees);
        }
        Some(first)
    }

    fn add(&self, id: String, trace: Trace) {
        if let Some(tell) = &*self.listener.lock().unwrap_or_else(|e| e.into_inner()) {
            tell(trace.tree(&id, 0));
        }
        if self.capacity == 0 {
            return;
        }
        let mut kept = self.lock();
        let id: Arc<str> = id.into();
        // one id that comes again and again takes the place of many
        if kept.traces.get(&id).is_none_or(|all| all.len() >= self.capacity) {
            kept.order.retain(|known| *known != id);
            kept.order.push_back(id.clone());
            kept.traces.insert(id.clone(), Vec::new());
        }
        if kept.order.len() > self.capacity
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.traces.remove(&oldest);
        }
        if let Some(all) = kept.traces.get_mut(&id) {
            all.push(trace);
        }
    }
}

impl Trace {
    fn tree(&self, id: &str, at: usize) -> Json {
        let span = &self.spans[at];
        let below = (at + 1..self.spans.len()).filter(|i| self.spans[*i].before == Some(at));
        let parent = span.before.map_or(&self.parent, |before| &self.spans[before].id);
        json!({
            "name": &*span.name,
            "traceID": id,
            "spanID": span.id,
            "parentSpanID": parent,
            "attribute": {"rule": &*self.rule, "data": &*span.data},
            "startTime": time(self.start_us),
            "endTime": time(self.end_us),
            "ruleID": &*self.rule,
            "ChildSpan": below.map(|i| self.tree(id, i)).collect::<Vec<_>>(),
        })
    }
}

fn time(us: i64) -> String {
    jiff::Timestamp::from_microsecond(us).unwrap_or_default().to_string()
}

/// A source of a traced rule.
pub struct TappedSource {
    /// Which of the rule's sources it is.
    pub source: usize,
    /// Its nodes: the source, and its decoder.
    pub nodes: Vec<Arc<str>>,
    /// What the rule reads of it.
    pub fields: Vec<Option<Field>>,
    /// The batch's column with the context.
    pub context: Option<u16>,
}

/// What a traced rule needs to write its traces.
pub struct Tap {
    pub store: Arc<TraceStore>,
    pub mode: TraceMode,
    pub rule: Arc<str>,
    pub sources: Vec<TappedSource>,
    /// Operators, then sinks; in the order of the data.
    pub nodes: Vec<NodeRef>,
}

/// A row on its way.
pub struct Row<'a> {
    tap: &'a Tap,
    from: &'a TappedSource,
    id: String,
    parent: String,
    data: Arc<str>,
    before: Vec<u64>,
}

impl Tap {
    /// Begins the trace of a row, where it is to be traced.
    pub fn begin<'a>(
        &'a self,
        source: usize,
        map: &[u16],
        batch: &Batch,
        row: usize,
        host: &HostServices,
    ) -> Option<Row<'a>> {
        let from = self.sources.iter().find(|s| s.source == source)?;
        let context = from.context.and_then(|col| match batch.value(usize::from(col), row) {
            Value::Str(text) => context(&text),
            _ => None,
        });
        let (id, parent) = match (context, self.mode) {
            (Some(known), _) => known,
            (None, TraceMode::Head) => return None,
            (None, TraceMode::Always) => {
                (format!("{:016x}{:016x}", host.random(), host.random() | 1), "0".repeat(16))
            }
        };
        let before = self.nodes.iter().map(|n| seen(n.node.stats())).collect();
        Some(Row { tap: self, from, id, parent, data: text(&from.fields, map, batch, row), before })
    }
}

impl Row<'_> {
    /// Ends the trace; `result` is the first payload that the row gave.
    pub fn end(self, result: Option<String>, start_us: i64, end_us: i64, host: &HostServices) {
        let result: Arc<str> = result.map_or_else(|| self.data.clone(), |r| cut(r).into());
        let mut spans: Vec<Span> = Vec::new();
        let mut add = |name: &Arc<str>, before: Option<usize>, data: &Arc<str>| {
            let id = format!("{:016x}", host.random() | 1);
            let name = name.split_once('_').map_or(&**name, |(_, rest)| rest).into();
            spans.push(Span { name, id, before, data: data.clone() });
            spans.len() - 1
        };
        let mut last = None;
        for name in &self.from.nodes {
            last = Some(add(name, last, &self.data));
        }
        let mut trunk = last;
        for (node, before) in self.tap.nodes.iter().zip(&self.before) {
            if seen(node.node.stats()) == *before || node.name.is_empty() {
                continue;
            }
            // the nodes of a sink follow each other, every sink hangs on the last operator
            let of_sink = node.node.is_of_sink();
            let data = if of_sink { &result } else { &self.data };
            let at = add(&node.name, last, data);
            last = Some(at);
            match node.node.kind() {
                NodeKind::Sink => last = trunk,
                _ if !of_sink => trunk = last,
                _ => {}
            }
        }
        let trace =
            Trace { rule: self.tap.rule.clone(), parent: self.parent, start_us, end_us, spans };
        if !trace.spans.is_empty() {
            self.tap.store.add(self.id, trace);
        }
    }
}

fn seen(stats: &NodeStats) -> u64 {
    stats.records_in.load(Relaxed)
}

/// Trace and span of a context in W3C form, `00-<32 hex>-<16 hex>-01`.
fn context(text: &str) -> Option<(String, String)> {
    let mut parts = text.split('-');
    let (_version, trace, span) = (parts.next()?, parts.next()?, parts.next()?);
    let hex = |s: &str, n| s.len() == n && s.bytes().all(|b| b.is_ascii_hexdigit());
    let whole = hex(trace, 32) && hex(span, 16) && parts.next().is_some();
    whole.then(|| (trace.to_ascii_lowercase(), span.to_ascii_lowercase()))
}

/// What the rule reads of a row, as JSON.
fn text(fields: &[Option<Field>], map: &[u16], batch: &Batch, row: usize) -> Arc<str> {
    let mut object = Object::default();
    for (field, col) in fields.iter().zip(map) {
        let value = batch.value(usize::from(*col), row);
        match (field, value) {
            (Some(Field::Whole), Value::Object(whole)) => {
                for (name, member) in whole.iter() {
                    object.insert(name.clone(), member.clone());
                }
            }
            (Some(Field::Named(name)), value) if !value.is_missing() => {
                object.insert(name.clone(), value);
            }
            _ => {}
        }
    }
    let value = Value::Object(Arc::new(object));
    cut(rekuiper_value::json::to_serde(&value).to_string()).into()
}

fn cut(mut text: String) -> String {
    if text.len() > DATA_BYTES_MAX {
        let end = (0..=DATA_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or(0));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(rule: &str) -> Trace {
        let span = |id: &str, before| Span {
            name: "n".into(),
            id: id.to_owned(),
            before,
            data: "{}".into(),
        };
        Trace {
            rule: rule.into(),
            parent: "0".repeat(16),
            start_us: 1_700_000_000_000_001,
            end_us: 1_700_000_000_000_002,
            spans: vec![span("a", None), span("b", Some(0)), span("c", Some(1))],
        }
    }

    #[test]
    fn the_oldest_traces_give_way() {
        let store = TraceStore::new(2);
        for id in ["1", "2", "3"] {
            store.add(id.to_owned(), trace("r"));
        }
        assert_eq!(store.of_rule("r", 9), ["2", "3"]);
        assert_eq!(store.of_rule("r", 1), ["3"]);
        assert!(store.of_rule("other", 9).is_empty());
        assert!(store.get("1").is_none());
        let tree = store.get("3").expect("kept");
        assert_eq!(tree["ChildSpan"][0]["ChildSpan"][0]["parentSpanID"], "b");
        assert_eq!(tree["startTime"], "2023-11-14T22:13:20.000001Z");
    }

    #[test]
    fn rules_that_share_a_context_share_a_trace() {
        let store = TraceStore::new(2);
        store.add("1".to_owned(), trace("r"));
        store.add("1".to_owned(), trace("q"));
        assert_eq!(store.of_rule("q", 9), store.of_rule("r", 9));
        let tree = store.get("1").expect("kept");
        assert_eq!(tree["ChildSpan"].as_array().map(Vec::len), Some(2));
        for _ in 0..9 {
            store.add("1".to_owned(), trace("r"));
        }
        assert!(store.lock().traces["1"].len() <= 2);
    }

    #[test]
    fn contexts_in_w3c_form() {
        let (trace, span) = ("a".repeat(32), "b".repeat(16));
        let read = context(&format!("00-{trace}-{span}-01"));
        assert_eq!(read, Some((trace.clone(), span)));
        for bad in ["", "00", "00-aa-bb-01", &format!("00-{trace}-zzzzzzzzzzzzzzzz-01")] {
            assert_eq!(context(bad), None, "{bad}");
        }
    }
}
