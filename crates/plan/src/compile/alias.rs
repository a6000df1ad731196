//! References to aliases: the alias's own expression, put in place of its name.

use rekuiper_expr::Expr;
use rekuiper_sql::{self as sql, ExprKind, Span};
use rekuiper_value::Value;

use crate::compile::{ALIAS_BUDGET, Place, Planner, children};
use crate::error::{PlanError, Result};
use crate::internal;

/// Functions whose result is another one each time.
const RANDOM: &[&str] = &["rand", "newuuid", "array_shuffle"];

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
        let made = self.computed_once(at, made?, span, place)?;
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

    /// An alias that comes out otherwise each time it is computed, and that is used elsewhere,
    /// becomes a column: all who use it must see the same value.
    fn computed_once(&mut self, at: usize, made: Expr, span: Span, place: Place) -> Result<Expr> {
        let mut random = false;
        made.walk(&mut |e| {
            random |= matches!(e, Expr::Call { def, .. } if RANDOM.contains(&def.name));
        });
        if !random || !self.used_elsewhere(at) {
            return Ok(made);
        }
        // the number tells equal aliases apart: rand() AS a, rand() AS b are two
        let number = Expr::Lit(Value::Int(at as i64));
        self.analytic_call(&internal::SAME, vec![made, number], None, span, place)
    }

    /// Whether an expression outside its own item names the alias.
    fn used_elsewhere(&self, at: usize) -> bool {
        let select = self.select;
        let Some(name) = select.items.get(at).and_then(|i| i.alias.as_deref()) else {
            return false;
        };
        let items = select
            .items
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != at)
            .map(|(_, i)| &i.expr);
        let joins = select.joins.iter().filter_map(|j| j.on.as_ref());
        let rest = select
            .where_
            .iter()
            .chain(&select.having)
            .chain(&select.group_by);
        let order = select.order_by.iter().map(|s| &s.expr);
        items
            .chain(joins)
            .chain(rest)
            .chain(order)
            .any(|e| names(e, name))
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

/// Whether an expression holds a column of that name. What a window or OVER holds counts as if it
/// did: the answer may be yes too often.
fn names(e: &sql::Expr, name: &str) -> bool {
    match &e.kind {
        ExprKind::Column {
            qualifier: None,
            name: n,
        } => n == name,
        ExprKind::Column {
            qualifier: Some(first),
            ..
        } => first == name,
        ExprKind::Window(_) => true,
        ExprKind::Call(call) if call.over.is_some() => true,
        _ => children(e)
            .into_iter()
            .any(|c| sql::deep(|| names(c, name))),
    }
}
