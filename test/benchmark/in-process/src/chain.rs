//! W1's rule in a real engine: decoder, filter, projection, output, all on one thread.

use std::sync::Arc;

use rekuiper_connect::embed;
use rekuiper_connect::{Props, Services};
use rekuiper_flow::{ActionSpec, Engine, EngineConfig, FlowCatalog, RuleSpec, StreamSpec};
use rekuiper_plan::{Catalog, StreamInfo};
use rekuiper_rt::Clock;
use rekuiper_sql::ast::{Statement, StreamDef};
use rekuiper_value::batch::{BATCH_ROWS_MAX, RawBatch};
use tokio::sync::mpsc;

const DDL: &str =
    "CREATE STREAM telem () WITH (DATASOURCE=\"x\", FORMAT=\"json\", TYPE=\"$embed\")";
const SQL: &str = "SELECT id, device, temp, speed * 3.6 AS speed_kmh FROM telem WHERE temp > 21.0";
const QUEUE_BATCHES: usize = 4;

struct One(Arc<StreamDef>);

impl Catalog for One {
    fn stream(&self, name: &str) -> Option<StreamInfo> {
        (name == "telem").then(|| StreamInfo::new(self.0.clone()))
    }
}

impl FlowCatalog for One {
    fn stream_spec(&self, name: &str) -> Option<StreamSpec> {
        (name == "telem").then(|| StreamSpec { def: self.0.clone(), props: Props::default() })
    }
    fn as_plan(&self) -> &dyn Catalog {
        self
    }
}

pub fn batches(payloads: &[Vec<u8>]) -> Vec<RawBatch> {
    let raw = |part: &[Vec<u8>]| {
        let slices: Vec<&[u8]> = part.iter().map(Vec::as_slice).collect();
        RawBatch::of_payloads(&slices, 0)
    };
    payloads.chunks(BATCH_ROWS_MAX).map(raw).collect()
}

/// Runs all batches through and appends the lines to `out`.
pub fn run(batches: Vec<RawBatch>, out: &mut Vec<u8>) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|e| e.to_string())?.block_on(through(batches, out))
}

async fn through(batches: Vec<RawBatch>, out: &mut Vec<u8>) -> Result<(), String> {
    let statement = rekuiper_sql::parse_statement(DDL).map_err(|e| e.to_string())?;
    let Statement::Create(def) = statement else { return Err("no stream".into()) };
    let services = Services::new(Clock::Real, ".".into(), ".".into());
    let (feed, inlet) = mpsc::channel(QUEUE_BATCHES);
    let (outlet, mut results) = mpsc::channel(QUEUE_BATCHES);
    services.embedded.feed("telem", inlet);
    services.embedded.collect("w1", outlet);
    let engine = Engine::new(EngineConfig::new(Clock::Real, services));
    let props = [("sendSingle".to_owned(), true.into())].into_iter().collect();
    let spec = RuleSpec {
        id: "w1".into(),
        sql: SQL.into(),
        actions: vec![ActionSpec { typ: embed::NAME.into(), props: Props::new(props) }],
        send_error: true,
        ..RuleSpec::default()
    };
    let started = engine.start(&spec, &One(Arc::from(def)), Box::new(|_| {}));
    started.map_err(|e| e.to_string())?;
    let feeding = tokio::spawn(async move {
        for batch in batches {
            if feed.send(batch).await.is_err() {
                break; // what is missing shows in the output
            }
        }
    });
    while let Some(result) = results.recv().await {
        out.extend_from_slice(&result.bytes);
    }
    feeding.await.map_err(|e| e.to_string())
}
