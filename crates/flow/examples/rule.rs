//! Runs one rule on one MQTT stream into a file: `rule PORT TOPIC FORMAT OUT SQL`. For profiling
//! the data path without a server around it.

use std::sync::Arc;

use rekuiper_connect::{Props, Services};
use rekuiper_flow::{ActionSpec, Engine, EngineConfig, FlowCatalog, RuleSpec, StreamSpec};
use rekuiper_plan::{Catalog, StreamInfo};
use rekuiper_rt::Clock;
use rekuiper_sql::ast::{Statement, StreamDef};

struct One {
    def: Arc<StreamDef>,
    props: Props,
}

impl Catalog for One {
    fn stream(&self, name: &str) -> Option<StreamInfo> {
        (name == "telem").then(|| StreamInfo::new(self.def.clone()))
    }
}

impl FlowCatalog for One {
    fn stream_spec(&self, name: &str) -> Option<StreamSpec> {
        let spec = || StreamSpec { def: self.def.clone(), props: self.props.clone() };
        (name == "telem").then(spec)
    }
    fn as_plan(&self) -> &dyn Catalog {
        self
    }
}

fn props(json: serde_json::Value) -> Props {
    Props::new(json.as_object().cloned().unwrap_or_default())
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, port, topic, format, out, sql] = &args[..] else {
        eprintln!("usage: rule PORT TOPIC FORMAT OUT SQL");
        std::process::exit(2);
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(run(port, topic, format, out, sql));
}

async fn run(port: &str, topic: &str, format: &str, out: &str, sql: &str) {
    let ddl = format!(
        "CREATE STREAM telem () WITH (DATASOURCE=\"{topic}\", FORMAT=\"{format}\", TYPE=\"mqtt\")"
    );
    let Ok(Statement::Create(def)) = rekuiper_sql::parse_statement(&ddl) else {
        panic!("the stream's definition does not parse")
    };
    let server = format!("tcp://127.0.0.1:{port}");
    let catalog =
        One { def: Arc::from(def), props: props(serde_json::json!({"server": server})) };
    let services = Services::new(Clock::Real, ".".into(), ".".into());
    let engine = Engine::new(EngineConfig::new(Clock::Real, services));
    let action = serde_json::json!({"path": out, "fileType": "lines", "sendSingle": true});
    let spec = RuleSpec {
        id: "r".into(),
        sql: sql.into(),
        actions: vec![ActionSpec { typ: "file".into(), props: props(action) }],
        ..RuleSpec::default()
    };
    engine.start(&spec, &catalog, Box::new(|end| println!("ended: {end:?}"))).expect("starts");
    let _ = tokio::signal::ctrl_c().await;
    engine.stop("r").await;
    for node in engine.metrics("r") {
        println!(
            "{} in {} out {} exceptions {} {}",
            node.name, node.records_in, node.records_out, node.exceptions, node.last_exception
        );
    }
}
