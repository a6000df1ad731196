//! Which windows need not keep their rows: those whose results are the same from aggregates that
//! are kept per group.

use rekuiper_expr::Expr;

use crate::RuleOptions;
use crate::build::{Parts, sorts_of_rows};
use crate::compile::{Planner, ROW_CONTEXT};
use crate::physical::{AggregateCall, AggregatePlan, Stage, WindowShape};

/// Most windows at once that hold groups instead of sharing their rows. A row costs a few
/// nanoseconds in each, a group some forty bytes.
const OVERLAP_MAX: usize = 64;
/// Count windows that share rows keep them where fewer come from one result to the next.
const EVERY_MIN: usize = 16;

pub(crate) struct Shape<'a> {
    /// WHERE is tested after the window.
    pub where_later: bool,
    pub options: &'a RuleOptions,
}

/// The window with its aggregates in one, if nothing needs the rows.
pub(crate) fn stage(
    planner: &mut Planner<'_>,
    parts: &mut Parts,
    shape: &Shape<'_>,
) -> Option<Stage> {
    if shape.options.force_buffered || shape.where_later || !parts.grouped {
        return None;
    }
    if planner.scope.sources.len() != 1 || !planner.where_aggregates.is_empty() {
        return None;
    }
    let window = parts.window.as_ref()?;
    match window.shape.overlap()? {
        1 => {}
        // each window holds its own aggregates: those that keep what they are given would hold it
        // many times over, the rows are held once
        // so few rows are quicker looked at again
        2.. if matches!(window.shape, WindowShape::Count { every, .. } if every < EVERY_MIN) => {
            return None;
        }
        2..=OVERLAP_MAX if planner.aggregates.iter().all(is_small) => {}
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
    let calls = std::mem::take(&mut planner.aggregates);
    let dimensions = std::mem::take(&mut parts.dimensions);
    let aggregate = AggregatePlan {
        row_when_empty: dimensions.is_empty(),
        dimensions,
        calls,
        sort_rows: Vec::new(),
    };
    parts
        .window
        .take()
        .map(|window| Stage::WindowAggregate(window, aggregate))
}

/// Whether what an aggregate holds does not grow with the rows.
fn is_small(call: &AggregateCall) -> bool {
    let name = call.def.name.trim_start_matches("inc_");
    matches!(
        name,
        "count" | "sum" | "avg" | "min" | "max" | "last_value" | "merge_agg"
    )
}

fn asks_for_times(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |e| {
        found |= matches!(e, Expr::Call { def, .. } if ROW_CONTEXT.contains(&def.name));
    });
    found
}
