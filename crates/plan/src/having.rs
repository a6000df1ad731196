//! HAVING asks about groups, so it may hold aggregates and what rests on them.

use rekuiper_sql::{self as sql, ExprKind};

use crate::compile::{Planner, children};
use crate::error::{PlanError, Result};

impl Planner<'_> {
    /// Refuses columns and calls of single rows.
    pub fn check_having(&self, e: &sql::Expr) -> Result<()> {
        match &e.kind {
            ExprKind::Call(call) => {
                let def = self.function(call, e.span)?;
                let of_results = def.name.starts_with("last_agg_hit");
                if def.is_aggregate() || of_results {
                    return Ok(());
                }
                if !self.holds_aggregate(e) {
                    return Err(PlanError::at(
                        e.span,
                        format!("{} in HAVING is computed of a single row", call.original),
                    )
                    .expected("an aggregate, or an alias of one"));
                }
            }
            ExprKind::Column { name, .. } if !self.holds_aggregate(e) => {
                return Err(PlanError::at(
                    e.span,
                    format!("column {name} in HAVING is of a single row"),
                )
                .expected(
                    "an aggregate, or an alias of one (conditions on rows belong into WHERE)",
                ));
            }
            _ => {}
        }
        children(e)
            .into_iter()
            .try_for_each(|c| sql::deep(|| self.check_having(c)))
    }
}
