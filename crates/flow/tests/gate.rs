//! Rules that a batch cannot pass are not run: that must show in nothing but time.

use std::sync::Arc;

use rekuiper_connect::{Props, Services, embed};
use rekuiper_flow::{ActionSpec, Engine, EngineConfig, FlowCatalog, RuleSpec, StreamSpec};
use rekuiper_plan::{Catalog, StreamInfo};
use rekuiper_rt::Clock;
use rekuiper_sql::ast::{Statement, StreamDef};
use rekuiper_value::batch::RawBatch;
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

/// Batches of plain numbers, of one number only, of numbers and other things.
const BATCHES: [&[&str]; 7] = [
    &[r#"{"n":1}"#, r#"{"n":5}"#, r#"{"n":3.5}"#],
    &[r#"{"n":4}"#, r#"{"n":4}"#],
    &[r#"{"n":-1}"#],
    &[r#"{"n":9}"#, r#"{"n":"text"}"#],
    &[r#"{"n":null}"#, r#"{}"#],
    &[r#"{"n":2}"#, r#"{"n":"#],
    &[r#"{"n":1795292668348461057}"#, r#"{"n":6}"#],
];

fn start(engine: &Engine, catalog: &One, id: &str, sql: &str) -> mpsc::Receiver<embed::Results> {
    let (tx, rx) = mpsc::channel(100);
    engine.config.services.embedded.collect(id, tx);
    let props = json!({"sendSingle": true}).as_object().cloned().unwrap_or_default();
    let spec = RuleSpec {
        id: id.into(),
        sql: sql.into(),
        actions: vec![ActionSpec { typ: embed::NAME.into(), props: Props::new(props) }],
        send_error: true,
        ..RuleSpec::default()
    };
    engine.start(&spec, catalog, Box::new(|_| {})).expect("the rule starts");
    rx
}

async fn everything(mut rx: mpsc::Receiver<embed::Results>) -> String {
    let mut all = Vec::new();
    while let Some(results) = rx.recv().await {
        all.extend(results.bytes);
    }
    String::from_utf8(all).expect("text")
}

fn counts(engine: &Engine, id: &str) -> Vec<(u64, u64, u64)> {
    let nodes = engine.metrics(id).into_iter().filter(|n| n.name.starts_with("op_"));
    nodes.map(|n| (n.records_in, n.records_out, n.exceptions)).collect()
}

#[tokio::test]
async fn rules_that_are_passed_by_give_and_count_what_others_do() {
    let ddl = r#"CREATE STREAM s () WITH (DATASOURCE="x", TYPE="$embed", SHARED="true")"#;
    let Ok(Statement::Create(def)) = rekuiper_sql::parse_statement(ddl) else {
        panic!("the stream's definition does not parse")
    };
    let catalog = One(Arc::from(def));
    let services = Services::new(Clock::Real, ".".into(), ".".into());
    let engine = Engine::new(EngineConfig::new(Clock::Real, services));
    let (feed, inlet) = mpsc::channel(100);
    engine.config.services.embedded.feed("s", inlet);
    let mut pairs = Vec::new();
    for op in [">", ">=", "<", "<=", "=", "!="] {
        for k in ["-2", "-1", "1", "3.5", "4", "5", "6", "10"] {
            let one = format!("SELECT n FROM s WHERE n {op} {k}");
            // an OR has no threshold of its own: such a rule runs on every batch
            let other = format!("SELECT n FROM s WHERE n {op} {k} OR n {op} {k}");
            let ids = [format!("gated {op} {k}"), format!("whole {op} {k}")];
            let outputs = [
                start(&engine, &catalog, &ids[0], &one),
                start(&engine, &catalog, &ids[1], &other),
            ];
            pairs.push((ids, outputs));
        }
    }
    for payloads in BATCHES {
        let bytes: Vec<&[u8]> = payloads.iter().map(|p| p.as_bytes()).collect();
        feed.send(RawBatch::of_payloads(&bytes, 0)).await.expect("the stream reads");
    }
    drop(feed);
    for ([one, other], [left, right]) in pairs {
        let (left, right) = (everything(left).await, everything(right).await);
        assert_eq!(left, right, "{one}");
        assert_eq!(counts(&engine, &one), counts(&engine, &other), "{one}");
    }
}
