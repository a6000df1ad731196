//! What an engine tells of its rules.

use rekuiper_value::{Str, Value};

use super::run::Live;
use super::{Engine, lock};
use crate::metrics::{Node, NodeReport, Topo};

impl Engine {
    /// Calls `visit` with the name of each rule, and that of each of its nodes.
    pub(crate) fn each_node(&self, visit: &mut dyn FnMut(&str, &str, &Node)) {
        for (rule, run) in lock(&self.runs).iter() {
            run.nodes.iter().for_each(|(name, node)| visit(rule, name, node));
        }
    }

    /// Whether a run of that rule is under way.
    pub fn is_running(&self, id: &str) -> bool {
        lock(&self.runs).get(id).is_some_and(|r| r.live.is_some())
    }

    /// CPU time of every running rule in nanoseconds; `None`: not measured.
    pub fn cpu_ns(&self) -> Option<Vec<(String, u64)>> {
        if !self.config.measure_cpu {
            return None;
        }
        let of = |live: &Live| live.cells.iter().filter_map(|c| c.cpu_ns()).sum();
        let runs = lock(&self.runs);
        let live = runs.iter().filter_map(|(id, run)| Some((id, run.live.as_ref()?)));
        Some(live.map(|(id, live)| (id.to_string(), of(live))).collect())
    }

    /// Rows of scan tables that a running rule holds for its joins, by the table's name.
    pub async fn scan_tables(&self, id: &str) -> Vec<(Str, Vec<Value>)> {
        let cells = lock(&self.runs).get(id).and_then(|run| Some(run.live.as_ref()?.cells.clone()));
        let mut all = Vec::new();
        for cell in cells.unwrap_or_default() {
            all.extend(cell.tables().await);
        }
        all
    }

    /// Numbers of the run, or of the last one; in the order of the data.
    pub fn metrics(&self, id: &str) -> Vec<NodeReport> {
        let runs = lock(&self.runs);
        let nodes = runs.get(id).into_iter().flat_map(|run| run.nodes.iter());
        nodes.map(|(name, node)| NodeReport::of(name, node)).collect()
    }

    /// `None` when the rule never started.
    pub fn topo(&self, id: &str) -> Option<Topo> {
        lock(&self.runs).get(id).map(|r| Topo::clone(&r.topo))
    }

    /// Names of the result's columns, as far as they are known.
    pub fn schema(&self, id: &str) -> Option<Vec<String>> {
        lock(&self.runs).get(id).map(|r| r.schema.to_vec())
    }
}
