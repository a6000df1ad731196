//! References to aliases: the alias's own expression, put in place of its name.

use rekuiper_expr::Expr;
use rekuiper_sql::Span;

use crate::compile::{ALIAS_BUDGET, Place, Planner};
use crate::error::{PlanError, Result};

/// An alias that is compiled.
pub(super) struct Ready {
    made: Expr,
    height: usize,
    nodes: usize,
}

impl Planner<'_> {
    /// The item that a bare name means, where it is an alias. Within its own item an alias means
    /// the column of that name.
    pub(super) fn alias_of(&self, name: &str) -> Option<usize> {
        self.aliases
            .get(name)
            .copied()
            .filter(|at| self.stack.last() != Some(at))
    }

    /// An aliased item's expression.
    pub fn alias(&mut self, at: usize, span: Span, place: Place) -> Result<Expr> {
        if self.stack.contains(&at) {
            return Err(self.cycle(at, span));
        }
        let key = (at, place.class());
        if let Some(ready) = self.ready.get(&key) {
            self.alias_nodes += ready.nodes;
            if self.alias_nodes > ALIAS_BUDGET {
                return Err(
                    PlanError::at(span, "aliases of aliases grow too large here")
                        .expected("fewer references to aliases that refer to aliases"),
                );
            }
            self.height = self.height.max(ready.height);
            return Ok(ready.made.clone());
        }
        let item = &self.select.items[at];
        self.stack.push(at);
        let outer = std::mem::take(&mut self.height);
        let made = self.compile(&item.expr, place);
        let height = std::mem::replace(&mut self.height, outer);
        self.height = outer.max(height);
        self.stack.pop();
        let made = made?;
        let mut nodes = 0;
        made.walk(&mut |_| nodes += 1);
        self.ready.insert(
            key,
            Ready {
                made: made.clone(),
                height,
                nodes,
            },
        );
        Ok(made)
    }

    fn cycle(&self, at: usize, span: Span) -> PlanError {
        let from = self.stack.iter().position(|s| *s == at).unwrap_or(0);
        let names: Vec<&str> = self.stack[from..]
            .iter()
            .chain([&at])
            .filter_map(|i| self.select.items[*i].alias.as_deref())
            .collect();
        PlanError::at(
            span,
            format!("aliases refer to each other: {}", names.join(" -> ")),
        )
        .expected("aliases that rest on columns in the end")
    }
}
