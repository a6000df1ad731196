//! Which columns the rest of a rule still reads: what windows, joins and groups must keep.

use rekuiper_expr::{Expr, Part};
use rekuiper_plan::physical::{
    AggregateCall, AggregatePlan, OutItem, ProjectionPlan, SortKey, Stage, WindowPlan, WindowShape,
};

/// Columns by number; sorted when taken.
#[derive(Clone, Default)]
pub struct Needs(std::collections::BTreeSet<u16>);

impl Needs {
    pub fn of_projection(plan: &ProjectionPlan) -> Self {
        let mut needs = Needs::default();
        for item in &plan.items {
            match item {
                OutItem::Field { expr, .. } | OutItem::Spread { expr, .. } => needs.expr(expr),
                OutItem::Members(expr) => needs.expr(expr),
                OutItem::Row(parts) => parts.iter().filter_map(Part::expr).for_each(|e| needs.expr(e)),
                OutItem::Const { .. } => {}
            }
        }
        needs
    }

    /// The columns, in ascending order.
    pub fn columns(&self) -> Vec<u16> {
        self.0.iter().copied().collect()
    }

    fn expr(&mut self, expr: &Expr) {
        expr.each_col(&mut |col| {
            self.0.insert(col);
        });
    }

    fn exprs<'a>(&mut self, list: impl IntoIterator<Item = &'a Expr>) {
        list.into_iter().for_each(|e| self.expr(e));
    }

    fn keys(&mut self, list: &[SortKey]) {
        self.exprs(list.iter().map(|k| &k.expr));
    }

    fn calls(&mut self, list: &[AggregateCall]) {
        list.iter().for_each(|c| self.exprs(&c.args));
    }

    fn window(&mut self, plan: &WindowPlan) {
        self.exprs(plan.filter.iter().chain(&plan.trigger_when).chain(&plan.partition));
        if let WindowShape::State { begin, end } = &plan.shape {
            self.exprs(std::iter::once(begin).chain(end));
        }
    }

    pub fn aggregate(&mut self, plan: &AggregatePlan) {
        self.exprs(&plan.dimensions);
        self.calls(&plan.calls);
        self.keys(&plan.sort_rows);
    }

    /// Goes back over a stage: what it makes is not there before it.
    pub fn before(&mut self, stage: &Stage) {
        let made: Vec<u16> = match stage {
            Stage::Analytic(list) => list.iter().map(|p| p.col).collect(),
            Stage::WindowAggregate(_, plan) | Stage::Aggregate(plan) => {
                plan.calls.iter().map(|c| c.col).collect()
            }
            Stage::AggregateColumns(calls) => calls.iter().map(|c| c.col).collect(),
            Stage::RowNumber(plan) => vec![plan.col],
            Stage::Unnest(plan) => vec![plan.col],
            _ => Vec::new(),
        };
        made.iter().for_each(|col| {
            self.0.remove(col);
        });
        self.stage(stage);
    }

    /// What a stage reads.
    fn stage(&mut self, stage: &Stage) {
        match stage {
            Stage::Watermark { .. } | Stage::Limit(_) => {}
            Stage::Filter(e) | Stage::Having(e) => self.expr(e),
            Stage::Analytic(list) => {
                for plan in list {
                    self.exprs(plan.args.iter().chain(&plan.partition).chain(&plan.when));
                }
            }
            Stage::Window(plan) => self.window(plan),
            Stage::WindowAggregate(window, aggregate) => {
                self.window(window);
                self.aggregate(aggregate);
            }
            Stage::Join(list) => {
                for plan in list {
                    self.exprs(&plan.on);
                    self.exprs(plan.equal.iter().flat_map(|(a, b)| [a, b]));
                }
            }
            Stage::Lookup(plan) => {
                self.exprs(&plan.on);
                self.exprs(plan.keys.iter().map(|(_, e)| e));
            }
            Stage::AggregateColumns(calls) => self.calls(calls),
            Stage::Aggregate(plan) => self.aggregate(plan),
            Stage::RowNumber(plan) => {
                self.exprs(&plan.partition);
                self.keys(&plan.order);
            }
            Stage::Order(keys) => self.keys(keys),
            Stage::Unnest(plan) => self.expr(&plan.expr),
            Stage::DedupTrigger(list) => self.exprs(list),
        }
    }
}
