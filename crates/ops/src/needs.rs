//! Which columns the rest of a rule still reads: what windows, joins and groups must keep.

use rekuiper_expr::{Expr, Part};
use rekuiper_plan::physical::{
    AggregatePlan, OutItem, ProjectionPlan, Stage, WindowPlan, WindowShape,
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
                OutItem::Row(parts) => {
                    parts.iter().filter_map(Part::expr).for_each(|e| needs.expr(e))
                }
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
        each_expr(stage, &mut |e| self.expr(e));
    }
}

/// Calls `visit` for every expression directly in a stage.
pub fn each_expr(stage: &Stage, visit: &mut dyn FnMut(&Expr)) {
    match stage {
        Stage::Watermark { .. } | Stage::Limit(_) => {}
        Stage::Filter(e) | Stage::Having(e) => visit(e),
        Stage::Analytic(list) => {
            for plan in list {
                plan.args.iter().chain(&plan.partition).chain(&plan.when).for_each(&mut *visit);
            }
        }
        Stage::Window(plan) => window(plan, visit),
        Stage::WindowAggregate(plan, groups) => {
            window(plan, visit);
            aggregate(groups, visit);
        }
        Stage::Join(list) => {
            for plan in list {
                plan.on.iter().for_each(&mut *visit);
                plan.equal.iter().flat_map(|(a, b)| [a, b]).for_each(&mut *visit);
            }
        }
        Stage::Lookup(plan) => {
            plan.on.iter().chain(plan.keys.iter().map(|(_, e)| e)).for_each(visit);
        }
        Stage::AggregateColumns(calls) => calls.iter().flat_map(|c| &c.args).for_each(visit),
        Stage::Aggregate(plan) => aggregate(plan, visit),
        Stage::RowNumber(plan) => {
            plan.partition.iter().for_each(&mut *visit);
            plan.order.iter().for_each(|k| visit(&k.expr));
        }
        Stage::Order(keys) => keys.iter().for_each(|k| visit(&k.expr)),
        Stage::Unnest(plan) => visit(&plan.expr),
        Stage::DedupTrigger(list) => list.iter().for_each(visit),
    }
}

fn window(plan: &WindowPlan, visit: &mut dyn FnMut(&Expr)) {
    plan.filter.iter().chain(&plan.trigger_when).chain(&plan.partition).for_each(&mut *visit);
    if let WindowShape::State { begin, end } = &plan.shape {
        std::iter::once(begin).chain(end).for_each(visit);
    }
}

fn aggregate(plan: &AggregatePlan, visit: &mut dyn FnMut(&Expr)) {
    plan.dimensions.iter().for_each(&mut *visit);
    plan.calls.iter().flat_map(|c| &c.args).for_each(&mut *visit);
    plan.sort_rows.iter().for_each(|k| visit(&k.expr));
}
