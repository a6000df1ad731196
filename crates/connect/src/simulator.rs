//! `simulator`: rows written in the configuration, one a tick; as a lookup table, the rows whose
//! columns have all the wanted values.

use std::sync::Arc;

use rekuiper_rt::limits::BATCH_MESSAGES_MAX;
use rekuiper_value::batch::{Payloads, RawBatch, SourceRow};
use rekuiper_value::{Object, Str, Value, json};

use crate::memory::lookup::matches;
use crate::traits::{BoxFuture, Lookup, Opened, Source, SourceCx, SourceOut};
use crate::{ConnectError, ConnectorDef, Props};

pub static CONNECTOR: ConnectorDef =
    ConnectorDef { name: "simulator", source: Some(source), sink: None, lookup: Some(lookup) };

/// Between two rows, unless `interval` says otherwise.
const INTERVAL_MS: i64 = 1000;

fn source(_datasource: &str, props: &Props) -> Result<Opened, ConnectError> {
    let rows = rows(props)?;
    let interval_ms = props.millis("interval", INTERVAL_MS)?.max(0);
    let again = props.bool("loop", true)?;
    if again && rows.is_empty() {
        return Err(ConnectError::config("simulator source has no rows: property data is empty"));
    }
    Ok(Opened::Source(Box::new(Simulator { rows, interval_ms, again })))
}

fn lookup(_datasource: &str, _key: &str, props: &Props) -> Result<Opened, ConnectError> {
    Ok(Opened::Lookup(Arc::new(Table { rows: rows(props)? })))
}

fn rows(props: &Props) -> Result<Vec<Arc<Object>>, ConnectError> {
    let wrong = || ConnectError::config("property data must be an object or a list of objects");
    let Some(data) = props.get("data") else { return Ok(Vec::new()) };
    match json::parse(data.to_string().as_bytes()).map_err(|_| wrong())? {
        Value::Object(row) => Ok(vec![row]),
        Value::Array(rows) => {
            rows.iter().map(|row| row.as_object().cloned().ok_or_else(wrong)).collect()
        }
        _ => Err(wrong()),
    }
}

struct Simulator {
    rows: Vec<Arc<Object>>,
    interval_ms: i64,
    again: bool,
}

impl Source for Simulator {
    fn follows(&self) -> &'static [&'static str] {
        &["interval"]
    }

    fn gives_rows(&self) -> bool {
        true
    }

    fn run<'a>(
        self: Box<Self>,
        cx: SourceCx,
        out: SourceOut,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        Box::pin(async move {
            cx.status.connected(cx.clock.now_ms());
            let step = if self.interval_ms == 0 { BATCH_MESSAGES_MAX } else { 1 };
            let mut next = cx.clock.now_ms();
            loop {
                for rows in self.rows.chunks(step) {
                    let ts = cx.clock.now_ms();
                    let row = |data: &Arc<Object>| SourceRow { data: data.clone(), meta: None, ts };
                    let payloads = Payloads::Rows(rows.iter().map(row).collect());
                    if out.send(RawBatch { payloads, meta: None, ts, ack: None }).await.is_err() {
                        return Ok(());
                    }
                    next += self.interval_ms;
                    cx.clock.sleep_until(next).await;
                    // ticks that were missed while the queue was full are not made up for
                    next = next.max(cx.clock.now_ms() - self.interval_ms);
                }
                if !self.again {
                    return Ok(());
                }
                tokio::task::yield_now().await;
            }
        })
    }
}

struct Table {
    rows: Vec<Arc<Object>>,
}

impl Lookup for Table {
    fn open<'a>(&'a self, cx: &'a SourceCx) -> BoxFuture<'a, Result<(), ConnectError>> {
        cx.status.connected(cx.clock.now_ms());
        Box::pin(async { Ok(()) })
    }

    fn find<'a>(
        &'a self,
        keys: &'a [(Str, Value)],
    ) -> BoxFuture<'a, Result<Vec<Arc<Object>>, ConnectError>> {
        let found = self.rows.iter().filter(|r| matches(r, keys)).cloned().collect();
        Box::pin(async move { Ok(found) })
    }

    fn find_now(&self, keys: &[(Str, Value)]) -> Option<Vec<Arc<Object>>> {
        Some(self.rows.iter().filter(|r| matches(r, keys)).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{World, error_of, lookup_of, props, show, source_of};

    #[tokio::test]
    async fn one_row_a_tick_over_and_over() {
        let conf = json!({"data": [{"a": 1}, {"a": 2.5}], "interval": "10ms"});
        let world = World::new();
        let mut running = world.run(source_of(source("", &props(conf))));
        for want in [r#"{"a":1}"#, r#"{"a":2.5}"#, r#"{"a":1}"#] {
            assert_eq!(running.texts().await, [want]);
            world.hand.advance(9);
            assert!(running.is_silent().await);
            world.hand.advance(1);
        }
    }

    #[tokio::test]
    async fn without_loop_it_ends() {
        let conf = json!({"data": [{"a": 1}, {"a": 2}], "interval": 0, "loop": false});
        let running = World::new().run(source_of(source("", &props(conf))));
        let (rows, end) = running.until_end().await;
        assert_eq!(rows, [r#"{"a":1}"#, r#"{"a":2}"#]);
        end.unwrap();
        assert!(error_of(source("", &props(json!({"data": [1]})))).text.contains("objects"));
        assert!(error_of(source("", &props(json!({})))).text.contains("data"));
    }

    #[tokio::test]
    async fn a_table_matches_all_keys() {
        let data = json!({"data": [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}, {"a": 2, "b": "x"}]});
        let table = lookup_of(lookup("", "", &props(data)));
        let keys = [("a".into(), Value::Float(1.0)), ("b".into(), Value::str("y"))];
        let found = table.find(&keys).await.unwrap();
        assert_eq!(found.iter().map(show).collect::<Vec<_>>(), [r#"{"a":1,"b":"y"}"#]);
        assert_eq!(table.find_now(&keys[..1]).unwrap().len(), 2);
    }
}
