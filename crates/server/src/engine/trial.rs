//! Trial runs: a rule whose results go to a feed, some of its streams replaced by given rows.

use std::sync::Arc;

use rekuiper_connect::Props as ConnectProps;
use rekuiper_flow::{ActionSpec, Engine, FlowCatalog, RuleSpec, StreamSpec};
use rekuiper_formats::proto::MessageType;
use rekuiper_functions::FunctionDef;
use rekuiper_plan::{Catalog as PlanCatalog, StreamInfo};
use rekuiper_sql::StreamDef;
use tokio::sync::mpsc;

use super::flow::FlowEngine;
use super::view::CatalogView;
use super::{EngineResult, TrialDef, TrialRun};

/// A running trial.
struct Trial {
    engine: Arc<Engine>,
    id: String,
}

impl TrialRun for Trial {}

impl Drop for Trial {
    fn drop(&mut self) {
        let (engine, id) = (self.engine.clone(), std::mem::take(&mut self.id));
        rekuiper_rt::task::spawn("end of a trial", async move {
            engine.stop(&id).await;
            engine.forget(&id);
        })
        .detach();
    }
}

/// The catalog of a trial: some streams are replaced by rows.
struct Mocked<'a> {
    view: &'a CatalogView,
    trial: &'a TrialDef,
}

impl PlanCatalog for Mocked<'_> {
    fn stream(&self, name: &str) -> Option<StreamInfo> {
        self.view.stream(name)
    }

    fn external_function(&self, name: &str) -> Option<&'static FunctionDef> {
        self.view.external_function(name)
    }
}

impl FlowCatalog for Mocked<'_> {
    fn stream_spec(&self, name: &str) -> Option<StreamSpec> {
        let spec = self.view.stream_spec(name)?;
        let Some(mock) = self.trial.mocks.iter().find(|m| m.stream == name) else {
            return Some(spec);
        };
        let mut def = StreamDef::clone(&spec.def);
        def.options.type_ = Some("simulator".into());
        def.options.shared = Some(false);
        let props = serde_json::json!({
            "data": mock.rows,
            "interval": mock.interval_ms,
            "loop": mock.repeat,
        });
        let props = props.as_object().cloned().unwrap_or_default();
        Some(StreamSpec {
            def: Arc::new(def),
            props: ConnectProps::new(props),
        })
    }

    fn message(&self, schema_id: &str) -> Result<MessageType, String> {
        self.view.message(schema_id)
    }

    fn encryption_key(&self, name: &str) -> Option<Vec<u8>> {
        self.view.encryption_key(name)
    }

    fn ignore_case(&self) -> bool {
        self.view.ignore_case()
    }

    fn as_plan(&self) -> &dyn PlanCatalog {
        self
    }
}

impl FlowEngine {
    pub(super) async fn run_trial(
        &self,
        trial: TrialDef,
        out: mpsc::Sender<String>,
    ) -> EngineResult<Box<dyn TrialRun>> {
        let id = format!("$$ruletest/{}", trial.id);
        let spec = RuleSpec {
            id: id.clone(),
            sql: trial.sql.clone(),
            actions: vec![ActionSpec {
                typ: rekuiper_connect::embed::NAME.into(),
                props: ConnectProps::new(trial.sink_props.clone()),
            }],
            send_error: true,
            ..RuleSpec::default()
        };
        self.engine.stop(&id).await;
        let catalog = Mocked {
            view: &self.view,
            trial: &trial,
        };
        self.engine.config.services.embedded.collect_texts(&id, out);
        self.engine.start(&spec, &catalog, Box::new(|_| {}))?;
        Ok(Box::new(Trial {
            engine: self.engine.clone(),
            id,
        }))
    }
}
