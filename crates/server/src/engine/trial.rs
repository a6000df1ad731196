//! Trial runs: a rule whose results go to a feed, some of its streams replaced by given rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rekuiper_connect::Props as ConnectProps;
use rekuiper_flow::{ActionSpec, Engine, FlowCatalog, RuleSpec, StreamSpec};
use rekuiper_formats::proto::MessageType;
use rekuiper_functions::FunctionDef;
use rekuiper_plan::{Catalog as PlanCatalog, RuleOptions, StreamInfo};
use rekuiper_sql::StreamDef;
use tokio::sync::mpsc;

use super::flow::FlowEngine;
use super::view::CatalogView;
use super::{EngineResult, Props, TrialDef, TrialRun};

/// Told apart from other runs: one that ends must not take the next one of its name with it.
static RUNS: AtomicU64 = AtomicU64::new(0);

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

    fn is_source_type(&self, typ: &str) -> bool {
        self.view.is_source_type(typ)
    }

    fn is_sink_type(&self, typ: &str) -> bool {
        self.view.is_sink_type(typ)
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
        let mut props = Props::new();
        props.insert("data".into(), mock.rows.clone().into());
        props.insert("interval".into(), mock.interval_ms.into());
        props.insert("loop".into(), mock.repeat.into());
        Some(StreamSpec {
            def: Arc::new(def),
            props: ConnectProps::new(props),
        })
    }

    fn source_props(&self, def: &StreamDef) -> ConnectProps {
        self.view.source_props(def)
    }

    fn sink_props(&self, typ: &str, own: Option<&Props>) -> ConnectProps {
        self.view.sink_props(typ, own)
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
    fn trial_spec(&self, id: String, trial: &TrialDef) -> RuleSpec {
        let mut props = trial.sink_props.clone();
        props.remove("rows"); // results go out as text, whatever is asked for
        RuleSpec {
            id,
            sql: trial.sql.clone(),
            actions: vec![ActionSpec {
                typ: rekuiper_connect::embed::NAME.into(),
                props: ConnectProps::new(props),
            }],
            plan: RuleOptions { temp: true, late_tolerance_ms: 1_000, ..RuleOptions::default() },
            send_error: true,
            ..RuleSpec::default()
        }
    }

    /// Whether it can be planned, its sources made, and its results shaped as `sinkProps` say.
    pub(super) fn try_trial(&self, trial: &TrialDef) -> EngineResult<()> {
        let catalog = Mocked { view: &self.view, trial };
        self.engine.check(&self.trial_spec(String::new(), trial), &catalog)?;
        Ok(())
    }

    pub(super) async fn run_trial(
        &self,
        trial: TrialDef,
        out: mpsc::Sender<String>,
    ) -> EngineResult<Box<dyn TrialRun>> {
        let number = RUNS.fetch_add(1, Ordering::Relaxed);
        let id = format!("$$ruletest/{}/{number}", trial.id);
        let spec = self.trial_spec(id.clone(), &trial);
        let catalog = Mocked { view: &self.view, trial: &trial };
        self.engine.config.services.embedded.collect_texts(&id, out);
        self.engine.start(&spec, &catalog, Box::new(|_| {}))?;
        Ok(Box::new(Trial { engine: self.engine.clone(), id }))
    }
}
