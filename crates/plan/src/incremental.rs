//! Which windows need not keep their rows: those whose results are the same from aggregates that
//! are kept per group.

use std::collections::HashSet;

use rekuiper_expr::Expr;

use crate::RuleOptions;
use crate::build::{Parts, sorts_of_rows};
use crate::compile::{Planner, ROW_CONTEXT};
use crate::internal::FIRST;
use crate::physical::{AggregateCall, AggregatePlan, OutItem, Stage, StagePlan, WindowShape};
use crate::visit::Exprs;

pub(crate) struct Shape<'a> {
    /// WHERE is tested after the window.
    pub where_later: bool,
    pub options: &'a RuleOptions,
}

/// The window with its aggregates in one, if nothing needs the rows. Plain columns that later
/// stages read are kept per group as well.
pub(crate) fn stage(
    planner: &mut Planner<'_>,
    parts: &mut Parts,
    tail: &mut [StagePlan],
    items: &mut [OutItem],
    shape: &Shape<'_>,
) -> Option<Stage> {
    if shape.options.force_buffered || shape.where_later || !parts.grouped {
        return None;
    }
    if planner.scope.sources.len() != 1 || !planner.where_aggregates.is_empty() {
        return None;
    }
    let window = parts.window.as_ref()?;
    match &window.shape {
        WindowShape::Tumbling { .. } | WindowShape::Hopping { .. } | WindowShape::Session { .. } => {}
        WindowShape::Count { count, every } if count == every => {}
        _ => return None,
    }
    // rows must be sorted before they are aggregated
    if parts.dimensions.is_empty() && !sorts_of_rows(planner, parts).is_empty() {
        return None;
    }
    // the times of a row are not those of its window
    let args = planner.aggregates.iter().flat_map(|c| &c.args);
    if args.chain(&parts.dimensions).any(asks_for_times) {
        return None;
    }
    let mut calls = std::mem::take(&mut planner.aggregates);
    let own: HashSet<u16> = calls.iter().map(|c| c.col).collect();
    for col in plain_columns(tail, items, &own) {
        calls.push(AggregateCall { def: &FIRST, args: vec![Expr::Col(col)], col });
    }
    let dimensions = std::mem::take(&mut parts.dimensions);
    let aggregate = AggregatePlan {
        row_when_empty: dimensions.is_empty(),
        dimensions,
        calls,
        sort_rows: Vec::new(),
    };
    parts.window.take().map(|window| Stage::WindowAggregate(window, aggregate))
}

fn asks_for_times(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |e| {
        found |= matches!(e, Expr::Call { def, .. } if ROW_CONTEXT.contains(&def.name));
    });
    found
}

/// Columns that are read after the window and not made there, in their order.
fn plain_columns(tail: &mut [StagePlan], items: &mut [OutItem], own: &HashSet<u16>) -> Vec<u16> {
    let mut made = own.clone();
    for step in tail.iter_mut() {
        step.stage.results(&mut |col| {
            made.insert(*col);
        });
    }
    let mut read = Vec::new();
    let mut note = |e: &mut Expr| {
        e.each_col(&mut |col| {
            if made.insert(col) {
                read.push(col);
            }
        });
    };
    tail.iter_mut().for_each(|step| step.stage.exprs(&mut note));
    items.iter_mut().for_each(|item| item.exprs(&mut note));
    read
}
