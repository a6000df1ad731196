//! The operator trait and what an operator is given.

use std::sync::Arc;

use rekuiper_expr::CmpOp;
use rekuiper_functions::Cx;
use rekuiper_value::{Error, Str, Value};

use crate::{Chunk, NodeStats, Projection};

/// Where the results of a rule go: implemented by the flow.
pub trait Output {
    /// Rows that passed all operators, with the projection that makes results of them.
    fn emit(&mut self, chunk: &mut Chunk<'_>, projection: &Projection, cx: &mut Cx<'_>);
    /// An error that the rule wants its sinks to see (sendError).
    fn error(&mut self, error: &Error);
}

/// Everything an operator may use besides its own state.
pub struct OpCx<'a, 'c> {
    pub cx: &'a mut Cx<'c>,
    pub out: &'a mut dyn Output,
    pub send_error: bool,
}

/// One operator of a rule. All methods hand what they produce to `next`.
pub trait Op: Send {
    /// Rows in.
    fn push(&mut self, chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>, next: Next<'_>);

    /// Processing time has reached `ocx.cx.now_ms`.
    fn tick(&mut self, ocx: &mut OpCx<'_, '_>, next: Next<'_>) {
        let _ = (ocx, next);
    }

    /// When it wants the next tick, Unix milliseconds.
    fn deadline(&self) -> Option<i64> {
        None
    }

    /// Event time: no row before `at` will come any more. Pass it on after acting on it.
    fn watermark(&mut self, at: i64, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        next.watermark(at, ocx);
    }

    /// A comparison of a column with a number that single rows must pass to have any effect here.
    fn threshold(&self) -> Option<(u16, CmpOp, f64)> {
        None
    }

    /// Whether errors of rows are told just where the row would have been handed on, so that many
    /// rows at once give the same as one after the other.
    fn orders_errors(&self) -> bool {
        false
    }

    /// Rows that wait inside (for `buffer_length`).
    fn held(&self) -> usize {
        0
    }

    /// Rows of scan tables that are held for joins: the table's name and each row as an object.
    fn tables(&self) -> Vec<(Str, Vec<Value>)> {
        Vec::new()
    }

    /// State for checkpoints, and back. `Null`: none.
    fn save(&self) -> Value {
        Value::Null
    }

    fn load(&mut self, state: &Value) {
        let _ = state;
    }
}

/// An operator with its counters.
pub struct Node {
    /// Name without instance, as in topology and metrics: `op_2_filter`.
    pub name: Arc<str>,
    pub stats: Arc<NodeStats>,
    pub op: Box<dyn Op>,
}

/// The rest of the chain. The projection at its end hands over to [`Output`].
pub struct Next<'a> {
    pub(crate) nodes: &'a mut [Node],
    pub(crate) end: &'a mut End,
    /// Counters of the operator that holds this `Next`.
    pub(crate) own: Option<Arc<NodeStats>>,
}

/// The end of a chain.
pub struct End {
    pub name: Arc<str>,
    pub stats: Arc<NodeStats>,
    pub projection: Projection,
}

impl Next<'_> {
    /// Hands rows on. An empty selection of single rows goes no further; an empty set does (an
    /// empty window is a result).
    pub fn push(&mut self, mut chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>) {
        let set = matches!(chunk.emission, crate::Emission::Set(_));
        if chunk.sel.is_empty() && !set {
            return;
        }
        let rows = if set { 1 } else { chunk.sel.len() as u64 };
        if let Some(own) = &self.own {
            own.add_out(rows);
        }
        match self.nodes.split_first_mut() {
            Some((node, nodes)) => {
                node.stats.add_in(rows, ocx.cx.now_ms);
                let next = Next { nodes, end: self.end, own: Some(node.stats.clone()) };
                node.op.push(chunk, ocx, next);
            }
            None => {
                self.end.stats.add_in(rows, ocx.cx.now_ms);
                ocx.out.emit(&mut chunk, &self.end.projection, ocx.cx);
            }
        }
    }

    pub fn watermark(&mut self, at: i64, ocx: &mut OpCx<'_, '_>) {
        if let Some((node, nodes)) = self.nodes.split_first_mut() {
            let next = Next { nodes, end: self.end, own: Some(node.stats.clone()) };
            node.op.watermark(at, ocx, next);
        }
    }

    /// Rows are lost on purpose: counted with the reason, not sent to sinks.
    pub fn dropped(&mut self, rows: u64, reason: &str, ocx: &mut OpCx<'_, '_>) {
        if let Some(own) = &self.own {
            own.exceptions_of(rows, reason, ocx.cx.now_ms);
        }
    }

    /// A row or an emission is lost: count it, and tell the sinks if the rule wants that.
    pub fn error(&mut self, error: &Error, ocx: &mut OpCx<'_, '_>) {
        if let Some(own) = &self.own {
            own.exception(&error.0, ocx.cx.now_ms);
        }
        if ocx.send_error {
            ocx.out.error(error);
        }
    }
}
