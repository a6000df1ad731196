//! Rules that a batch cannot pass are not run on it.
//!
//! Many rules on one stream often begin with a threshold on the same column (`WHERE temp > k`). The
//! least and the greatest number of a column are found once a batch; a rule whose threshold lies
//! beyond them keeps no row, so that only its filter's counter has to know of the batch. That makes
//! the cost of such rules that of their hits: a thousand thresholds of which each lets one row in a
//! hundred pass take a tenth of the time of a thousand runs over ten rows.
//!
//! It decides only where every row of the column is a plain number: what the row interpreter would
//! have to look at (nulls, texts, errors) always goes the whole way.

use std::sync::Arc;

use rekuiper_expr::CmpOp;
use rekuiper_ops::{Chain, NodeStats};
use rekuiper_value::{Batch, Column};

/// What a rule's first operator asks of a column.
pub struct Gate {
    /// Which of the rule's fields.
    field: u16,
    op: CmpOp,
    number: f64,
    /// Of the filter.
    stats: Arc<NodeStats>,
}

/// Least and greatest number of each column, as far as they were asked for; `None`: not plain.
#[derive(Default)]
pub struct Bounds(Vec<(u16, Option<(f64, f64)>)>);

impl Bounds {
    fn of(&mut self, at: u16, column: &Column) -> Option<(f64, f64)> {
        if let Some((_, known)) = self.0.iter().find(|(col, _)| *col == at) {
            return *known;
        }
        let nums = column.nums();
        let bounds = (nums.all_plain && !nums.vals.is_empty()).then(|| {
            let fold = |b: (f64, f64), v: &f64| (b.0.min(*v), b.1.max(*v));
            nums.vals.iter().fold((f64::INFINITY, f64::NEG_INFINITY), fold)
        });
        self.0.push((at, bounds));
        bounds
    }
}

impl Gate {
    /// Of rules over one source that filter first.
    pub fn of(chain: &Chain) -> Option<Gate> {
        let (field, op, number, stats) = chain.threshold()?;
        Some(Gate { field, op, number, stats })
    }

    /// Whether no row of the batch can pass; then it has been counted. `map` gives the batch's
    /// column of each field of the rule.
    pub fn shuts(&self, map: &[u16], batch: &Batch, bounds: &mut Bounds, now_ms: i64) -> bool {
        let Some(&at) = map.get(usize::from(self.field)) else { return false };
        let Some(column) = batch.cols.get(usize::from(at)) else { return false };
        let Some((least, greatest)) = bounds.of(at, column) else { return false };
        let some = match self.op {
            CmpOp::Gt => greatest > self.number,
            CmpOp::Ge => greatest >= self.number,
            CmpOp::Lt => least < self.number,
            CmpOp::Le => least <= self.number,
            CmpOp::Eq => least <= self.number && self.number <= greatest,
            CmpOp::Ne => least != self.number || greatest != self.number,
        };
        if !some {
            self.stats.add_in(batch.rows as u64, now_ms);
        }
        !some
    }
}
