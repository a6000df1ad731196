//! Windows, on three small axes: which rows belong together and when (`assign`), what is held of
//! them meanwhile (`hold`: rows, or groups with running aggregates), and the operator that asks the
//! one and feeds the other.
//!
//! A window's clock never runs back. In event time it is the timestamp of the rows, which come in
//! order, and the watermark; in processing time it is the rows' arrival and the ticks. A row that
//! stands before the clock counts as if it had come at it: so each row is in exactly one tumbling
//! window, whatever the queues did.
//!
//! Holds: the rows (or groups) of the open windows. How many that is follows from the rule.

pub mod align;
pub mod assign;
pub mod hold;
mod op;
mod state;

pub use op::WindowOp;
pub use state::StateWindow;

use rekuiper_plan::physical::{AggregatePlan, WindowPlan, WindowShape};

use crate::Op;
use assign::Assign;
use hold::groups::Groups;
use hold::overlap::{Grid, Measure, Overlap};
use hold::rows::Rows;

fn assigner(plan: &WindowPlan) -> Box<dyn Assign> {
    let (unit, event) = (plan.unit, plan.event_time);
    match plan.shape {
        WindowShape::Tumbling { length } => {
            Box::new(assign::tumbling::Tumbling::new(unit, length, event))
        }
        WindowShape::Hopping { length, hop } => {
            Box::new(assign::hopping::Hopping::new(unit, length, hop, event))
        }
        WindowShape::Sliding { length, delay } => {
            Box::new(assign::sliding::Sliding::new(length, delay))
        }
        WindowShape::Session { length, timeout } => {
            Box::new(assign::session::Session::new(unit, length, timeout, event))
        }
        WindowShape::Count { count, every } => Box::new(assign::count::Count::new(count, every)),
        WindowShape::State { .. } => Box::new(assign::count::Count::new(1, 1)),
    }
}

/// A window that keeps the columns `keep` of its rows.
pub fn buffered(plan: WindowPlan, keep: Vec<u16>, width: usize) -> Box<dyn Op> {
    if matches!(plan.shape, WindowShape::State { .. }) {
        return Box::new(StateWindow::new(plan, keep, width));
    }
    let assign = assigner(&plan);
    Box::new(WindowOp::new(plan, assign, Rows::new(keep, width)))
}

/// A window that keeps groups; `keep` are the columns of each group's first row.
pub fn grouped(
    plan: WindowPlan,
    aggregate: AggregatePlan,
    keep: Vec<u16>,
    width: usize,
) -> Box<dyn Op> {
    let assign = assigner(&plan);
    let grid = match plan.shape {
        WindowShape::Hopping { length, hop } if length != hop => {
            Grid { measure: Measure::Millis, length, hop }
        }
        WindowShape::Count { count, every } if count != every => {
            let whole = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
            Grid { measure: Measure::Rows, length: whole(count), hop: whole(every) }
        }
        _ => return Box::new(WindowOp::new(plan, assign, Groups::new(aggregate, keep, width))),
    };
    Box::new(WindowOp::new(plan, assign, Overlap::new(grid, aggregate, keep, width)))
}
