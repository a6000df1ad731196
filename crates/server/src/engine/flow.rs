//! The real engine behind [`RuleEngine`]: definitions of the catalog become what `flow` runs.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rekuiper_connect::Props as ConnectProps;
use rekuiper_flow::{ActionSpec, Engine, EngineConfig, FlowError, NodeReport, RuleSpec};
use rekuiper_plan::RuleOptions;
use serde_json::Value;
use tokio::sync::mpsc;

use super::connections::Named;
use super::otlp::{self, Exporter};
use super::view::CatalogView;
use super::{
    Change, Checked, ConnectionMetrics, ConnectionStatus, EngineError, EngineResult, Fut,
    InternalConnection, NodeMetrics, OnEnd, Props, RuleEngine, RunEnd, Side, Topo, TraceStrategy,
    TrialDef, TrialRun,
};
use crate::catalog::Catalog;
use crate::external::Externals;
use crate::logging;
use crate::rules::definition::RuleDef;

/// How long the end of a rule that is dropped is waited for: most sinks need less, and whoever
/// drops one with a sink that hangs wants an answer.
const FORGET_WAIT: Duration = Duration::from_millis(500);

/// See the module's doc.
pub struct FlowEngine {
    pub(super) engine: Arc<Engine>,
    pub(super) view: CatalogView,
    exporter: Mutex<Option<Exporter>>,
    pub(super) named: Arc<Named>,
}

impl FlowEngine {
    /// Must be called within a tokio runtime.
    pub fn new(catalog: Arc<Catalog>, config: EngineConfig) -> Self {
        let externals = Arc::new(Externals::new(catalog.clone(), config.services.clone()));
        let view = CatalogView(catalog, externals);
        let engine = Engine::new(config);
        let (exporter, named) = (Mutex::default(), Arc::default());
        let made = FlowEngine { engine, view, exporter, named };
        let settings = made.view.0.config.section("opentelemetry");
        if settings.get("enableremotecollector") == Some(&true.into()) {
            let text = |key| settings.get(key).and_then(Value::as_str).unwrap_or_default();
            let (service, to) = (text("servicename"), text("remoteendpoint"));
            if let Err(e) = made.export(service, to, true) {
                tracing::error!("openTelemetry.remoteEndpoint: {}", e.message);
            }
        }
        made
    }

    /// Sends traces to a collector from now on.
    fn export(&self, service: &str, collector: &str, inside: bool) -> EngineResult<()> {
        let Some(traces) = &self.engine.config.traces else { return Ok(()) };
        let (exporter, door) = otlp::start(service, collector, inside)?;
        traces.listen(Some(door));
        *self.exporter.lock().unwrap_or_else(PoisonError::into_inner) = Some(exporter);
        Ok(())
    }

    fn spec(&self, rule: &RuleDef) -> RuleSpec {
        let o = &rule.options;
        let actions = rule.actions.iter().map(|a| ActionSpec {
            typ: a.sink.clone(),
            props: ConnectProps::new(self.view.0.sink_props(&a.sink, &a.props)),
        });
        RuleSpec {
            id: rule.id.clone(),
            sql: rule.sql.clone().unwrap_or_default(),
            graph: rule.graph.as_deref().cloned().map(Value::Object),
            actions: actions.collect(),
            plan: RuleOptions {
                is_event_time: o.is_event_time,
                late_tolerance_ms: o.late_tolerance,
                send_meta_to_sink: o.send_meta_to_sink,
                send_nil_field: o.send_nil_field,
                concurrency: o.concurrency as i64,
                disable_buffer_full_discard: o.disable_buffer_full_discard,
                qos: o.qos,
                // Any rule may read a temporary stream: a deviation from eKuiper on purpose.
                temp: true,
                force_buffered: self.engine.config.force_buffered,
            },
            checkpoint_ms: o.checkpoint_interval,
            send_error: o.send_error,
            debug: o.debug,
        }
    }
}

impl From<FlowError> for EngineError {
    fn from(e: FlowError) -> Self {
        match e {
            FlowError::Rule(text) | FlowError::NotFound(text) => EngineError::undefined(text),
            FlowError::Connector(text) => EngineError::executor(text),
        }
    }
}

fn metrics(report: NodeReport) -> (String, NodeMetrics) {
    let metrics = NodeMetrics {
        records_in: report.records_in,
        records_out: report.records_out,
        messages_processed: report.messages_processed,
        process_latency_us: report.process_latency_us,
        buffer_length: report.buffer_length,
        last_invocation: report.last_invocation,
        exceptions: report.exceptions,
        last_exception: report.last_exception,
        last_exception_time: report.last_exception_time,
        connection: report
            .connection
            .map(|(status, up, down, why, tried)| ConnectionMetrics {
                status,
                last_connected: up,
                last_disconnected: down,
                last_disconnected_message: why,
                last_try: tried,
            }),
        latency_histogram: None,
        latency_sum_us: 0,
    };
    // Each node runs once: its instance is 0.
    (format!("{}_0", report.name), metrics)
}

impl RuleEngine for FlowEngine {
    fn check<'a>(&'a self, rule: &'a Arc<RuleDef>) -> Fut<'a, EngineResult<Checked>> {
        Box::pin(async move {
            if self.connections_of(rule).is_err() {
                // such a rule is made all the same, and does not start: its nodes lack properties
                if rule.sql.is_some() {
                    self.engine.explain(&self.spec(rule), &self.view)?;
                }
                return Ok(Checked { sources: rule.sources().to_vec() });
            }
            let sources = self.engine.check(&self.spec(rule), &self.view)?;
            Ok(Checked { sources })
        })
    }

    fn start(&self, rule: Arc<RuleDef>, on_end: OnEnd) -> Fut<'_, EngineResult<()>> {
        Box::pin(async move {
            let used = self.connections_of(&rule)?;
            let spec = self.spec(&rule);
            let (named, id) = (self.named.clone(), rule.id.clone());
            let on_end = Box::new(move |end| {
                named.let_go(&id);
                on_end(match end {
                    rekuiper_flow::RunEnd::Done => RunEnd::Done(String::new()),
                    rekuiper_flow::RunEnd::Failed(why) => RunEnd::Failed(why),
                })
            });
            logging::rules::set(&rule.id, &rule.options.log_filename);
            self.named.take(&rule.id, used);
            self.engine.start(&spec, &self.view, on_end).map_err(|e| {
                self.named.let_go(&rule.id);
                e.into()
            })
        })
    }

    fn stop<'a>(&'a self, id: &'a str) -> Fut<'a, ()> {
        Box::pin(async move {
            self.engine.stop(id).await;
            self.named.let_go(id);
        })
    }

    fn forget<'a>(&'a self, id: &'a str) -> Fut<'a, ()> {
        Box::pin(async move {
            self.engine.stop_within(id, FORGET_WAIT).await;
            self.named.let_go(id);
            self.engine.forget(id);
            logging::rules::set(id, "");
        })
    }

    fn metrics(&self, id: &str) -> Vec<(String, NodeMetrics)> {
        self.engine.metrics(id).into_iter().map(metrics).collect()
    }

    fn topo(&self, id: &str) -> Option<Topo> {
        self.engine.topo(id).map(|t| Topo {
            sources: t.sources,
            edges: t.edges,
        })
    }

    fn schema(&self, id: &str) -> Option<Vec<(String, Option<usize>)>> {
        let names = self.engine.schema(id)?;
        Some(
            names
                .into_iter()
                .enumerate()
                .map(|(at, name)| (name, Some(at)))
                .collect(),
        )
    }

    fn explain<'a>(&'a self, rule: &'a Arc<RuleDef>) -> Fut<'a, EngineResult<String>> {
        Box::pin(async move { Ok(self.engine.explain(&self.spec(rule), &self.view)?) })
    }

    fn cpu_usage(&self) -> Option<Vec<(String, u64)>> {
        let all = self.engine.cpu_ns()?;
        Some(all.into_iter().map(|(id, ns)| (id, ns / 1_000_000)).collect())
    }

    fn reset_state<'a>(
        &'a self,
        id: &'a str,
        stream: &'a str,
        input: &'a Props,
    ) -> Fut<'a, EngineResult<()>> {
        Box::pin(async move {
            let to = rekuiper_value::json::from_serde(&Value::Object(input.clone()), true);
            let to = to.as_object().cloned().unwrap_or_default();
            Ok(self.engine.rewind(id, stream, &to)?)
        })
    }

    fn scan_tables<'a>(&'a self, id: &'a str) -> Fut<'a, EngineResult<Vec<(String, Value)>>> {
        Box::pin(async move {
            let tables = self.engine.scan_tables(id).await;
            if tables.is_empty() {
                return Err(EngineError::undefined(format!("rule {id} joins no scan table")));
            }
            let mut out = Vec::new();
            for (name, rows) in tables {
                for row in rows {
                    let text = rekuiper_value::json::to_string(&row);
                    let text = text.map_err(|e| EngineError::undefined(e.to_string()))?;
                    let content = serde_json::from_str(&text);
                    let content = content.map_err(|e| EngineError::undefined(e.to_string()))?;
                    out.push((name.to_string(), content));
                }
            }
            Ok(out)
        })
    }

    fn set_trace(&self, id: &str, strategy: Option<TraceStrategy>) -> EngineResult<()> {
        let mode = strategy.map(|strategy| match strategy {
            TraceStrategy::Always => rekuiper_flow::TraceMode::Always,
            TraceStrategy::Head => rekuiper_flow::TraceMode::Head,
        });
        match self.engine.set_trace(id, mode) {
            true => Ok(()),
            false => Err(EngineError::undefined(format!("rule {id} is not running"))),
        }
    }

    fn traces_of(&self, id: &str, limit: usize) -> Vec<String> {
        let traces = self.engine.config.traces.as_ref();
        traces.map(|t| t.of_rule(id, limit)).unwrap_or_default()
    }

    fn trace(&self, trace_id: &str) -> Option<Value> {
        self.engine.config.traces.as_ref()?.get(trace_id)
    }

    fn set_exporter(&self, on: bool, service: &str, collector: &str) -> EngineResult<()> {
        let config = &self.view.0.config;
        let settings = config.section("opentelemetry");
        let own = settings.get("remoteendpoint").and_then(Value::as_str).unwrap_or_default();
        let collector = if collector.is_empty() { own } else { collector };
        if on {
            // what the configuration names is meant; what comes over the API is guarded
            return self.export(service, collector, collector == own || config.basic.private_net);
        }
        if let Some(traces) = &self.engine.config.traces {
            traces.listen(None);
        }
        *self.exporter.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    fn check_trial<'a>(&'a self, trial: &'a TrialDef) -> Fut<'a, EngineResult<()>> {
        Box::pin(async move { self.try_trial(trial) })
    }

    fn start_trial(
        &self,
        trial: TrialDef,
        out: mpsc::Sender<String>,
    ) -> Fut<'_, EngineResult<Box<dyn TrialRun>>> {
        Box::pin(async move { self.run_trial(trial, out).await })
    }

    fn changed<'a>(&'a self, change: Change) -> Fut<'a, EngineResult<()>> {
        Box::pin(async move {
            match change {
                Change::LookupTableCreated(name) => {
                    Ok(self.engine.open_lookup(&name, &self.view).await?)
                }
                Change::LookupTableDropped(name) => {
                    self.engine.drop_lookup(&name);
                    Ok(())
                }
                Change::ConnectionPut(id) => {
                    self.dial(&id);
                    Ok(())
                }
                Change::ConnectionDropped(id) => {
                    self.named.hang_up(&id);
                    Ok(())
                }
                _ => Ok(()),
            }
        })
    }

    fn connection_status(&self, id: &str) -> Option<ConnectionStatus> {
        Some(self.status_of(&self.view.0.connection(id)?))
    }

    fn internal_connections(&self) -> Vec<InternalConnection> {
        Vec::new()
    }

    fn test_connection<'a>(
        &'a self,
        side: Side,
        typ: &'a str,
        props: &'a Props,
    ) -> Fut<'a, EngineResult<()>> {
        Box::pin(async move {
            // with what a configuration key, a named connection and `tls: default` add
            let props = self.view.0.sink_props(typ, props);
            super::probe::probe(side, typ, &props, &self.engine.config.services).await
        })
    }
}
