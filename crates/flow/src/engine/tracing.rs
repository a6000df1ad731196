//! Traces of a running rule, switched on and off.

use std::sync::Arc;

use rekuiper_value::Field;

use super::{Engine, lock};
use crate::metrics::NodeRef;
use crate::rule::RuleCell;
use crate::trace::{self, Tap, TappedSource, TraceMode};

impl Engine {
    /// Traces rows of a running rule from now on, or no more. False: it does not run.
    pub fn set_trace(&self, id: &str, mode: Option<TraceMode>) -> bool {
        let runs = lock(&self.runs);
        let Some((run, live)) = runs.get(id).and_then(|r| Some((r, r.live.as_ref()?))) else {
            return false;
        };
        let (Some(store), Some(mode)) = (&self.config.traces, mode) else {
            live.cells.iter().for_each(|cell| cell.set_tap(None));
            return true;
        };
        let context = Field::Meta(trace::CONTEXT.into());
        let mut sources: Vec<(Arc<RuleCell>, TappedSource)> = Vec::new();
        let mut of_streams = Vec::new();
        for seat in &live.seats {
            let own = run.nodes.iter().filter(|(_, node)| node.is_of(&seat.stream));
            let nodes: Vec<Arc<str>> = own.map(|(name, _)| name.clone()).collect();
            of_streams.extend(nodes.iter().cloned());
            if let Some(place) = seat.stream.place(seat.id, &context) {
                let (source, fields, context) = (place.source, place.fields, place.context);
                sources.push((place.rule, TappedSource { source, nodes, fields, context }));
            }
        }
        let others = run.nodes.iter().filter(|(name, _)| !of_streams.contains(name));
        let nodes: Vec<NodeRef> =
            others.map(|(name, node)| NodeRef { name: name.clone(), node: node.clone() }).collect();
        for cell in &live.cells {
            let of_cell = |(rule, _): &mut (Arc<RuleCell>, _)| Arc::ptr_eq(rule, cell);
            let own = sources.extract_if(.., of_cell).map(|(_, source)| source).collect();
            cell.set_tap(Some(Arc::new(Tap {
                store: store.clone(),
                mode,
                rule: cell.id.clone(),
                sources: own,
                nodes: nodes.clone(),
            })));
        }
        true
    }
}
