//! Functions that remember earlier rows, per rule and partition.
//!
//! `push` gets the arguments of each row as they are written, evaluated, flags included; `skip`
//! the same for a row that OVER(WHEN …) leaves out. An error loses the row. Two take other forms:
//!
//! - `changed_cols` gets (prefix, ignore_null, pair…): each pair is an array `[name, value]`, the
//!   name being the column's or function's, "" for an expression without alias. `*` is given as the
//!   whole row, an object, whose members are such pairs.
//! - `had_changed` gets (ignore_null, value…); where its call holds a `*` the plan takes
//!   [`had_changed_star`] instead, whose arguments are (ignore_null, pair…) as above.
//!
//! States hold one value per argument (lag: as many as its offset), so they are as bounded as rows.

use crate::registry::functions;

mod accumulate;
mod changes;

functions! {
    acc_avg, acc_count, acc_max, acc_min, acc_sum, changed_col, changed_cols, had_changed, lag,
    latest,
}

pub use had_changed::star as had_changed_star;
