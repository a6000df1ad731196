//! A rule's operators in a row, and how they are built from the plan.

use std::sync::Arc;

use rekuiper_expr::CmpOp;
use rekuiper_plan::physical::{
    AggregatePlan, RulePlan, SourceKind, SourcePlan, Stage, StagePlan, WindowPlan,
};
use rekuiper_value::{Str, Value};

use crate::aggregate::Aggregated;
use crate::aggregate_columns::AggregateColumns;
use crate::analytic::Analytic;
use crate::dedup_trigger::DedupTrigger;
use crate::filter::Filter;
use crate::frames::asks_for_hits;
use crate::having::Having;
use crate::join::{self, Join};
use crate::limit::Limit;
use crate::lookup::{Lookup, Lookups};
use crate::needs::{self, Needs};
use crate::op::{End, Node};
use crate::order::Order;
use crate::row_number::RowNumber;
use crate::unnest::Unnest;
use crate::watermark::Watermark;
use crate::{Chunk, Next, NodeStats, Op, OpCx, Origin, Projection, window};

/// See the module's doc.
pub struct Chain {
    nodes: Box<[Node]>,
    end: End,
    sources: usize,
    /// By source: the node where its rows come in; the first one where nothing is said.
    doors: Box<[usize]>,
    /// A step asks for the results before each row: rows may not go through it together.
    one_by_one: bool,
}

/// Builds the operators of a plan. `name` gives a node's full name from its place and word.
pub fn build(plan: RulePlan, name: &dyn Fn(usize, &str) -> String) -> Chain {
    build_with(plan, &|at, word| name(at, word).into(), &|_| None)
}

/// The same for plans that ask lookup tables: `tables` gives that of a source, by its index.
pub fn build_with(
    plan: RulePlan,
    name: &dyn Fn(usize, &str) -> Arc<str>,
    tables: &dyn Fn(usize) -> Option<Lookups>,
) -> Chain {
    let needs = needs_after(&plan);
    let mut one_by_one = false;
    for stage in &plan.stages {
        needs::each_expr(&stage.stage, &mut |e| one_by_one |= asks_for_hits(e));
    }
    let cx = Building {
        cols: plan.cols,
        owners: join::owners(&plan.sources, plan.source_cols.max(plan.cols)),
        sources: plan.sources,
        tables,
    };
    let mut nodes = Vec::with_capacity(plan.stages.len());
    let mut join_at = None;
    let mut shown = 0;
    for (stage, needs) in plan.stages.into_iter().zip(&needs) {
        let words = stage.node_words(&cx.sources);
        let StagePlan { node, stage } = stage;
        if matches!(stage, Stage::Join(_)) {
            join_at.get_or_insert(nodes.len());
        }
        for (word, op) in named(words, cx.operators(&node, stage, needs)) {
            let name: Arc<str> = match &word {
                Some(word) => name(shown, word),
                None => "".into(),
            };
            shown += usize::from(word.is_some());
            nodes.push(Node { name, stats: Arc::default(), op });
        }
    }
    let end = End {
        name: name(shown, "project"),
        stats: Arc::default(),
        projection: Projection::new(plan.projection, plan.uses_row_context),
    };
    let scan = |s: &SourcePlan| matches!(s.kind, SourceKind::ScanTable { .. });
    let doors = match cx.sources.iter().any(scan) {
        true => cx.sources.iter().map(|s| join_at.filter(|_| scan(s)).unwrap_or(0)).collect(),
        false => Box::default(),
    };
    Chain { nodes: nodes.into(), end, sources: cx.sources.len(), doors, one_by_one }
}

/// Gives the operators of a stage the names that eKuiper's nodes have there: it may show more nodes
/// than we run (then one only hands on), or fewer (then ours has no name and is not shown).
fn named(
    words: Vec<rekuiper_value::Str>,
    ops: Vec<(String, Box<dyn Op>)>,
) -> Vec<(Option<String>, Box<dyn Op>)> {
    let mut ops: Vec<Box<dyn Op>> = ops.into_iter().map(|(_, op)| op).collect();
    if ops.len() == 1 && words.len() == 2 {
        // rows pass an aligner before they are joined, and an aggregate after their window
        let at = usize::from(words[0] != "join_aligner");
        ops.insert(at, Box::new(Pass));
    }
    let words = words.into_iter().map(|w| Some(w.to_string()));
    words.chain(std::iter::repeat(None)).zip(ops).collect()
}

/// Hands everything on.
struct Pass;

impl Op for Pass {
    fn push(&mut self, chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        next.push(chunk, ocx);
    }
}

/// For each stage the columns that later ones read.
fn needs_after(plan: &RulePlan) -> Vec<Needs> {
    let mut needs = Needs::of_projection(&plan.projection);
    let mut after: Vec<Needs> = Vec::with_capacity(plan.stages.len());
    for stage in plan.stages.iter().rev() {
        after.push(needs.clone());
        needs.before(&stage.stage);
    }
    after.reverse();
    after
}

/// What operators are built from besides their stage.
struct Building<'a> {
    cols: usize,
    owners: Vec<Option<usize>>,
    sources: Vec<SourcePlan>,
    tables: &'a dyn Fn(usize) -> Option<Lookups>,
}

impl Building<'_> {
    /// One line a stage: which file runs it. A stage may be run by two operators.
    fn operators(&self, node: &str, stage: Stage, after: &Needs) -> Vec<(String, Box<dyn Op>)> {
        let (keep, cols) = (after.columns(), self.cols);
        let op: Box<dyn Op> = match stage {
            Stage::Watermark { late_tolerance_ms } => {
                let is_stream = |s: &SourcePlan| s.kind == SourceKind::Stream;
                let streams = self.sources.iter().map(is_stream).collect();
                Box::new(Watermark::new(late_tolerance_ms, streams, keep, cols))
            }
            Stage::Filter(condition) => Box::new(Filter::new(condition)),
            Stage::Analytic(calls) => Box::new(Analytic::new(calls, &|col| {
                self.owners.get(usize::from(col)).copied().flatten()
            })),
            Stage::Window(plan) => window::buffered(plan, keep, cols),
            Stage::WindowAggregate(plan, aggregate) => {
                return self.window_aggregate(node, plan, aggregate, after);
            }
            Stage::Join(plans) => {
                let kinds: Vec<SourceKind> = self.sources.iter().map(|s| s.kind.clone()).collect();
                let join = Join::new(plans, &kinds, self.owners.clone(), keep, cols);
                Box::new(join.naming(&self.sources))
            }
            Stage::Lookup(plan) => {
                let table = (self.tables)(plan.right);
                match self.sources.get(plan.right) {
                    Some(source) => Box::new(Lookup::new(plan, source, table, keep, cols)),
                    None => return Vec::new(),
                }
            }
            Stage::AggregateColumns(calls) => Box::new(AggregateColumns::new(calls, cols)),
            Stage::Aggregate(plan) => Box::new(Aggregated::new(plan, keep, cols)),
            Stage::Having(condition) => Box::new(Having::new(condition)),
            Stage::RowNumber(plan) => Box::new(RowNumber::new(plan)),
            Stage::Order(keys) => Box::new(Order::new(keys)),
            Stage::Limit(rows) => Box::new(Limit(rows)),
            Stage::Unnest(plan) => Box::new(Unnest::new(plan, keep, cols)),
            Stage::DedupTrigger(args) => Box::new(DedupTrigger::new(args, keep, cols)),
        };
        vec![(node.to_owned(), op)]
    }

    fn window_aggregate(
        &self,
        node: &str,
        plan: WindowPlan,
        aggregate: AggregatePlan,
        after: &Needs,
    ) -> Vec<(String, Box<dyn Op>)> {
        let (keep, cols) = (after.columns(), self.cols);
        if plan.shape.overlap().is_some() && aggregate.sort_rows.is_empty() {
            return vec![(node.to_owned(), window::grouped(plan, aggregate, keep, cols))];
        }
        let stage = Stage::Aggregate(aggregate);
        let mut needs = after.clone();
        needs.before(&stage);
        let mut both = vec![(node.to_owned(), window::buffered(plan, needs.columns(), cols))];
        both.extend(self.operators("aggregate", stage, after));
        both
    }
}

impl Chain {
    /// Rows from a source. Those of a scan table go straight to where they are joined.
    pub fn push(&mut self, chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>) {
        let door = match chunk.source {
            Origin::One(source) => self.doors.get(source).copied().unwrap_or(0),
            Origin::Each(_) => 0,
        };
        if !self.one_by_one {
            return self.enter(door, chunk, ocx);
        }
        for row in chunk.sel.iter() {
            let mut sel = vec![*row];
            let one = Chunk {
                frame: chunk.frame.clone(),
                stamps: chunk.stamps,
                sel: &mut sel,
                emission: chunk.emission,
                source: chunk.source,
            };
            self.enter(door, one, ocx);
        }
    }

    fn enter(&mut self, door: usize, chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>) {
        let nodes = self.nodes.get_mut(door..).unwrap_or_default();
        Next { nodes, end: &mut self.end, own: None }.push(chunk, ocx);
    }

    /// Gives every operator whose deadline has come its tick.
    pub fn tick(&mut self, ocx: &mut OpCx<'_, '_>) {
        for at in 0..self.nodes.len() {
            let due = self.nodes[at].op.deadline().is_some_and(|d| d <= ocx.cx.now_ms);
            if let (true, Some((node, nodes))) = (due, self.nodes[at..].split_first_mut()) {
                let next = Next { nodes, end: &mut self.end, own: Some(node.stats.clone()) };
                node.op.tick(ocx, next);
            }
        }
    }

    /// The earliest deadline of any operator.
    pub fn deadline(&self) -> Option<i64> {
        self.nodes.iter().filter_map(|n| n.op.deadline()).min()
    }

    /// Name and counters of every operator, the projection last.
    pub fn stats(&self) -> Vec<(Arc<str>, Arc<NodeStats>)> {
        let shown = self.nodes.iter().filter(|n| !n.name.is_empty());
        let nodes = shown.map(|n| (n.name.clone(), n.stats.clone()));
        let end = [(self.end.name.clone(), self.end.stats.clone())];
        nodes.chain(end.into_iter().filter(|(name, _)| !name.is_empty())).collect()
    }

    /// What a row of the only source must pass at the first operator, and that one's counters.
    pub fn threshold(&self) -> Option<(u16, CmpOp, f64, Arc<NodeStats>)> {
        let first = self.nodes.first().filter(|_| self.sources == 1 && !self.one_by_one)?;
        let (col, op, number) = first.op.threshold()?;
        Some((col, op, number, first.stats.clone()))
    }

    /// Whether many rows at once tell errors as one after the other would.
    pub fn orders_errors(&self) -> bool {
        self.nodes.iter().all(|node| node.op.orders_errors())
    }

    /// Rows of scan tables that joins hold: the table's name, and its rows as objects.
    pub fn tables(&self) -> Vec<(Str, Vec<Value>)> {
        self.nodes.iter().flat_map(|n| n.op.tables()).collect()
    }

    /// State of all operators, for a checkpoint.
    pub fn save(&self) -> Value {
        Value::array(self.nodes.iter().map(|n| n.op.save()).collect())
    }

    /// Restores what `save` gave; states that do not fit are left alone.
    pub fn load(&mut self, state: &Value) {
        if let Value::Array(states) = state {
            for (node, state) in self.nodes.iter_mut().zip(states.iter()) {
                if !state.is_null() {
                    node.op.load(state);
                }
            }
        }
    }

    pub fn projection(&self) -> &Projection {
        &self.end.projection
    }

    pub fn end_stats(&self) -> &Arc<NodeStats> {
        &self.end.stats
    }
}
