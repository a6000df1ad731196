//! An engine that knows names and states but moves no rows: for tests of the API alone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use rekuiper_sql::{Statement, parse_statement};
use serde_json::Value;
use tokio::sync::mpsc;

use super::*;
use crate::catalog::Catalog;

#[derive(Default)]
struct Run {
    sources: Vec<String>,
    trace: Option<TraceStrategy>,
    running: bool,
}

pub struct FakeEngine {
    catalog: Arc<Catalog>,
    runs: Mutex<HashMap<String, Run>>,
}

const SINKS: [&str; 8] = [
    "nop",
    "log",
    "memory",
    "file",
    "mqtt",
    "rest",
    "sse",
    "websocket",
];

impl FakeEngine {
    pub fn new(catalog: Arc<Catalog>) -> FakeEngine {
        FakeEngine {
            catalog,
            runs: Mutex::default(),
        }
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<String, Run>> {
        self.runs.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn sources(&self, sql: &str) -> EngineResult<Vec<String>> {
        let select = match parse_statement(sql) {
            Ok(Statement::Select(s)) => s,
            Ok(_) => return Err(EngineError::undefined("a rule needs a SELECT statement")),
            Err(e) => return Err(EngineError::undefined(e.render(sql))),
        };
        let names: Vec<String> = select.sources().map(|s| s.name.to_string()).collect();
        match names.iter().find(|n| self.catalog.source(n).is_none()) {
            Some(n) => Err(EngineError::undefined(format!(
                "stream or table {n} is not defined"
            ))),
            None => Ok(names),
        }
    }
}

impl RuleEngine for FakeEngine {
    fn check<'a>(&'a self, rule: &'a Arc<RuleDef>) -> Fut<'a, EngineResult<Checked>> {
        Box::pin(async move {
            let sources = match &rule.sql {
                Some(sql) => self.sources(sql)?,
                None => Vec::new(),
            };
            match rule
                .actions
                .iter()
                .find(|a| !SINKS.contains(&a.sink.as_str()))
            {
                Some(a) => Err(EngineError::executor(format!(
                    "sink {} is not known",
                    a.sink
                ))),
                None => Ok(Checked { sources }),
            }
        })
    }

    fn start(&self, rule: Arc<RuleDef>, _on_end: OnEnd) -> Fut<'_, EngineResult<()>> {
        Box::pin(async move {
            let sources = self.check(&rule).await?.sources;
            self.runs().insert(
                rule.id.clone(),
                Run {
                    sources,
                    trace: None,
                    running: true,
                },
            );
            Ok(())
        })
    }

    fn stop<'a>(&'a self, id: &'a str) -> Fut<'a, ()> {
        Box::pin(async move {
            if let Some(run) = self.runs().get_mut(id) {
                run.running = false;
            }
        })
    }

    fn forget<'a>(&'a self, id: &'a str) -> Fut<'a, ()> {
        Box::pin(async move { drop(self.runs().remove(id)) })
    }

    fn metrics(&self, id: &str) -> Vec<(String, NodeMetrics)> {
        let runs = self.runs();
        let sources = runs
            .get(id)
            .map(|r| r.sources.as_slice())
            .unwrap_or_default();
        let connection = Some(ConnectionMetrics::default());
        let one = NodeMetrics {
            connection,
            ..Default::default()
        };
        sources
            .iter()
            .map(|s| (format!("source_{s}_0"), one.clone()))
            .collect()
    }

    fn topo(&self, id: &str) -> Option<Topo> {
        let sources = self
            .runs()
            .get(id)?
            .sources
            .iter()
            .map(|s| format!("source_{s}"))
            .collect();
        Some(Topo {
            sources,
            edges: Vec::new(),
        })
    }

    fn schema(&self, id: &str) -> Option<Vec<(String, Option<usize>)>> {
        self.runs().get(id).map(|_| Vec::new())
    }

    fn explain<'a>(&'a self, rule: &'a Arc<RuleDef>) -> Fut<'a, EngineResult<String>> {
        Box::pin(async move {
            match &rule.sql {
                Some(_) => Ok("{\"op\":\"ProjectPlan_0\",\"info\":\"\"}\n".into()),
                None => Err(EngineError::undefined(
                    "a graph rule has no plan to explain",
                )),
            }
        })
    }

    fn cpu_usage(&self) -> Option<Vec<(String, u64)>> {
        None
    }

    fn reset_state<'a>(
        &'a self,
        _id: &'a str,
        stream: &'a str,
        _input: &'a Props,
    ) -> Fut<'a, EngineResult<()>> {
        let e = EngineError::undefined(format!("source {stream} cannot be rewound"));
        Box::pin(async move { Err(e) })
    }

    fn scan_tables<'a>(&'a self, _id: &'a str) -> Fut<'a, EngineResult<Vec<(String, Value)>>> {
        Box::pin(async { Err(EngineError::undefined("the rule joins no scan table")) })
    }

    fn set_trace(&self, id: &str, strategy: Option<TraceStrategy>) -> EngineResult<()> {
        match self.runs().get_mut(id).filter(|r| r.running) {
            Some(run) => {
                run.trace = strategy;
                Ok(())
            }
            None => Err(EngineError::undefined(format!("rule {id} is not running"))),
        }
    }

    fn traces_of(&self, _id: &str, _limit: usize) -> Vec<String> {
        Vec::new()
    }

    fn trace(&self, _trace_id: &str) -> Option<Value> {
        None
    }

    fn set_exporter(&self, _on: bool, _service: &str, _collector: &str) -> EngineResult<()> {
        Ok(())
    }

    fn check_trial<'a>(&'a self, trial: &'a TrialDef) -> Fut<'a, EngineResult<()>> {
        Box::pin(async move { self.sources(&trial.sql).map(drop) })
    }

    fn start_trial(
        &self,
        trial: TrialDef,
        out: mpsc::Sender<String>,
    ) -> Fut<'_, EngineResult<Box<dyn TrialRun>>> {
        Box::pin(async move {
            for row in trial.mocks.iter().flat_map(|m| &m.rows) {
                let _ = out.try_send(row.to_string());
            }
            Ok(Box::new(FakeTrial) as Box<dyn TrialRun>)
        })
    }

    fn changed<'a>(&'a self, _change: Change) -> Fut<'a, EngineResult<()>> {
        Box::pin(async { Ok(()) })
    }

    fn connection_status(&self, _id: &str) -> Option<ConnectionStatus> {
        None
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
        Box::pin(super::probe::probe(side, typ, props))
    }
}

struct FakeTrial;
impl TrialRun for FakeTrial {}
