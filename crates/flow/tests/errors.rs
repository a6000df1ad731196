//! Errors of rows reach the sinks of rules that send them in the place of the row, whatever form
//! the sinks want.

use std::sync::Arc;

use rekuiper_connect::{Props, Services, embed};
use rekuiper_flow::{ActionSpec, Engine, EngineConfig, FlowCatalog, RuleSpec, StreamSpec};
use rekuiper_plan::{Catalog, StreamInfo};
use rekuiper_rt::Clock;
use rekuiper_sql::ast::{Statement, StreamDef};
use rekuiper_value::batch::RawBatch;
use rekuiper_value::{Value, json as values};
use serde_json::json;
use tokio::sync::mpsc;

struct One(Arc<StreamDef>);

impl Catalog for One {
    fn stream(&self, name: &str) -> Option<StreamInfo> {
        (name == "s").then(|| StreamInfo::new(self.0.clone()))
    }
}

impl FlowCatalog for One {
    fn stream_spec(&self, name: &str) -> Option<StreamSpec> {
        (name == "s").then(|| StreamSpec { def: self.0.clone(), props: Props::default() })
    }
    fn as_plan(&self) -> &dyn Catalog {
        self
    }
}

/// An engine with a stream that is fed by hand.
fn world() -> (Arc<Engine>, One, mpsc::Sender<RawBatch>) {
    let ddl = r#"CREATE STREAM s () WITH (DATASOURCE="x", TYPE="$embed")"#;
    let Ok(Statement::Create(def)) = rekuiper_sql::parse_statement(ddl) else {
        panic!("the stream's definition does not parse")
    };
    let services = Services::new(Clock::Real, ".".into(), ".".into());
    let engine = Engine::new(EngineConfig::new(Clock::Real, services));
    let (feed, inlet) = mpsc::channel(100);
    engine.config.services.embedded.feed("s", inlet);
    (engine, One(Arc::from(def)), feed)
}

fn start(engine: &Engine, catalog: &One, props: serde_json::Value, send_error: bool) {
    let props = props.as_object().cloned().unwrap_or_default();
    let spec = RuleSpec {
        id: "r".into(),
        sql: "SELECT n + 1 AS m FROM s".into(),
        actions: vec![ActionSpec { typ: embed::NAME.into(), props: Props::new(props) }],
        send_error,
        ..RuleSpec::default()
    };
    engine.start(&spec, catalog, Box::new(|_| {})).expect("the rule starts");
}

async fn feed(to: mpsc::Sender<RawBatch>) {
    let rows: [&[u8]; 4] = [br#"{"n":1}"#, br#"{"n":"x"}"#, br#"{"n":2}"#, br#"{"n":3}"#];
    to.send(RawBatch::of_payloads(&rows, 0)).await.expect("the stream reads");
}

/// What a sink gets: a result as its JSON, an error as its text.
async fn texts(props: serde_json::Value, send_error: bool) -> Vec<String> {
    let (engine, catalog, to) = world();
    let (tx, mut rx) = mpsc::channel(100);
    engine.config.services.embedded.collect_texts("r", tx);
    start(&engine, &catalog, props, send_error);
    feed(to).await;
    let mut all = Vec::new();
    while let Some(text) = rx.recv().await {
        all.push(text);
    }
    all
}

async fn columns(send_error: bool) -> Vec<String> {
    let (engine, catalog, to) = world();
    let (tx, mut rx) = mpsc::channel(100);
    engine.config.services.embedded.collect_columns("r", tx);
    start(&engine, &catalog, json!({"rows": true}), send_error);
    feed(to).await;
    let mut all = Vec::new();
    while let Some(part) = rx.recv().await {
        for row in 0..part.rows {
            let object = part.object(row);
            all.push(match object.get("error") {
                Some(Value::Str(text)) => text.to_string(),
                _ => values::to_serde(&Value::object(object)).to_string(),
            });
        }
    }
    all
}

#[tokio::test]
async fn errors_stand_in_the_place_of_their_row() {
    let plain = texts(json!({"sendSingle": true}), true).await;
    let [first, error, second, third] = &plain[..] else { panic!("four rows, found {plain:?}") };
    assert_eq!([first, second, third], [r#"{"m":2}"#, r#"{"m":3}"#, r#"{"m":4}"#]);
    assert!(!error.starts_with('{') && !error.is_empty(), "{error}");
    assert_eq!(texts(json!({"sendSingle": true, "fields": ["m"]}), true).await, plain);
    assert_eq!(columns(true).await, plain);
}

#[tokio::test]
async fn errors_are_not_sent_unasked() {
    let plain = texts(json!({"sendSingle": true}), false).await;
    assert_eq!(plain, [r#"{"m":2}"#, r#"{"m":3}"#, r#"{"m":4}"#]);
    assert_eq!(texts(json!({"sendSingle": true, "fields": ["m"]}), false).await, plain);
    assert_eq!(columns(false).await, plain);
}
