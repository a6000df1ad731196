//! Every expression and result column of a stage.

use rekuiper_expr::{Expr, Part};

use crate::physical::{OutItem, SortKey, Stage, WindowPlan, WindowShape};

/// Calls `visit` for each expression directly in it.
pub(crate) trait Exprs {
    fn exprs(&mut self, visit: &mut dyn FnMut(&mut Expr));
    /// Columns that it makes.
    fn results(&mut self, visit: &mut dyn FnMut(&mut u16));
}

fn sorts(keys: &mut [SortKey], visit: &mut dyn FnMut(&mut Expr)) {
    keys.iter_mut().for_each(|k| visit(&mut k.expr));
}

fn window(w: &mut WindowPlan, visit: &mut dyn FnMut(&mut Expr)) {
    if let WindowShape::State { begin, end } = &mut w.shape {
        visit(begin);
        end.iter_mut().for_each(&mut *visit);
    }
    w.filter
        .iter_mut()
        .chain(&mut w.trigger_when)
        .chain(&mut w.partition)
        .for_each(visit);
}

impl Exprs for Stage {
    fn exprs(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match self {
            Stage::Watermark { .. } | Stage::Limit(_) => {}
            Stage::Filter(e) | Stage::Having(e) => visit(e),
            Stage::DedupTrigger(all) => all.iter_mut().for_each(visit),
            Stage::Analytic(calls) => {
                for call in calls {
                    let rest = call.partition.iter_mut().chain(&mut call.when);
                    call.args.iter_mut().chain(rest).for_each(&mut *visit);
                }
            }
            Stage::Window(w) => window(w, visit),
            Stage::WindowAggregate(w, a) => {
                window(w, visit);
                a.dimensions.iter_mut().for_each(&mut *visit);
                a.calls
                    .iter_mut()
                    .flat_map(|c| &mut c.args)
                    .for_each(&mut *visit);
                sorts(&mut a.sort_rows, visit);
            }
            Stage::Aggregate(a) => {
                a.dimensions.iter_mut().for_each(&mut *visit);
                a.calls
                    .iter_mut()
                    .flat_map(|c| &mut c.args)
                    .for_each(&mut *visit);
                sorts(&mut a.sort_rows, visit);
            }
            Stage::AggregateColumns(calls) => {
                calls.iter_mut().flat_map(|c| &mut c.args).for_each(visit);
            }
            Stage::Join(joins) => {
                for join in joins {
                    join.on.iter_mut().for_each(&mut *visit);
                    for (left, right) in &mut join.equal {
                        visit(left);
                        visit(right);
                    }
                }
            }
            Stage::Lookup(l) => {
                l.keys
                    .iter_mut()
                    .map(|(_, e)| e)
                    .chain(&mut l.on)
                    .for_each(visit);
            }
            Stage::RowNumber(r) => {
                r.partition.iter_mut().for_each(&mut *visit);
                sorts(&mut r.order, visit);
            }
            Stage::Order(keys) => sorts(keys, visit),
            Stage::Unnest(u) => visit(&mut u.expr),
        }
    }

    fn results(&mut self, visit: &mut dyn FnMut(&mut u16)) {
        match self {
            Stage::Analytic(calls) => calls.iter_mut().for_each(|c| visit(&mut c.col)),
            Stage::WindowAggregate(_, a) | Stage::Aggregate(a) => {
                a.calls.iter_mut().for_each(|c| visit(&mut c.col));
            }
            Stage::AggregateColumns(calls) => calls.iter_mut().for_each(|c| visit(&mut c.col)),
            Stage::RowNumber(r) => visit(&mut r.col),
            Stage::Unnest(u) => visit(&mut u.col),
            Stage::DedupTrigger(all) => {
                if let Some(Expr::Col(col)) = all.get_mut(4) {
                    visit(col);
                }
            }
            _ => {}
        }
    }
}

impl Exprs for OutItem {
    fn exprs(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match self {
            OutItem::Field { expr, .. } | OutItem::Spread { expr, .. } | OutItem::Members(expr) => {
                visit(expr);
            }
            OutItem::Row(parts) => {
                for part in parts.iter_mut() {
                    match part {
                        Part::Spread(e) | Part::SpreadUnder(e) => visit(e),
                        Part::Named(_, e) | Part::NamedUnder(_, e) => visit(e),
                        Part::Without(_) => {}
                    }
                }
            }
            OutItem::Const { .. } => {}
        }
    }

    fn results(&mut self, _visit: &mut dyn FnMut(&mut u16)) {}
}
