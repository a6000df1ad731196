//! Aggregates: each distinct call is computed once, as a column.

use rekuiper_expr::Expr;
use rekuiper_functions::FunctionDef;
use rekuiper_sql::{self as sql, Call, ExprKind, InList, Span};
use rekuiper_value::Value;

use crate::compile::{Place, Planner, Stage, refuse};
use crate::error::{PlanError, Result};
use crate::physical::AggregateCall;

impl Planner<'_> {
    pub(super) fn aggregate(
        &mut self,
        call: &Call,
        def: &'static FunctionDef,
        span: Span,
        place: Place,
    ) -> Result<Expr> {
        let early = match place {
            Place::Where => true,
            Place::Select | Place::Having | Place::Order => false,
            Place::Inside(outer) => {
                return Err(PlanError::at(
                    span,
                    format!(
                        "{} is an aggregate and cannot stand in the aggregate {outer}",
                        def.name
                    ),
                )
                .expected("an expression of single rows"));
            }
            Place::Row(_) | Place::On => {
                return refuse(
                    span,
                    format!(
                        "{} is an aggregate and cannot stand in {}",
                        def.name,
                        place.words()
                    ),
                );
            }
        };
        let args = self.aggregate_args(call, def)?;
        let key = format!(
            "{}{}({})",
            if early { "where " } else { "" },
            def.name,
            self.texts(&args)
        );
        if let Some(col) = self.calls.get(&key) {
            return Ok(Expr::Col(*col));
        }
        let shown = if call
            .args
            .iter()
            .any(|a| matches!(a.kind, ExprKind::Star(_)))
        {
            "*".to_owned()
        } else {
            self.shows(&args[args.len().saturating_sub(call.args.len())..])
        };
        let stage = if early {
            Stage::WhereAggregate
        } else {
            Stage::Aggregate
        };
        let col = self.computed(format!("{}({shown})", def.name), stage)?;
        self.calls.insert(key, col);
        let made = AggregateCall { def, args, col };
        if early {
            self.where_aggregates.push(made)
        } else {
            self.aggregates.push(made)
        }
        Ok(Expr::Col(col))
    }

    /// `count(*)` counts a literal, so that no row has to be put together for it; other stars are
    /// the whole row. `deduplicate` gets the whole row, which it gives back, before its own.
    fn aggregate_args(&mut self, call: &Call, def: &'static FunctionDef) -> Result<Vec<Expr>> {
        let place = Place::Inside(def.name);
        let counts = matches!(def.name, "count" | "inc_count");
        let mut args = Vec::with_capacity(call.args.len() + 1);
        for arg in &call.args {
            args.push(match &arg.kind {
                ExprKind::Star(_) if counts => Expr::Lit(Value::Int(1)),
                ExprKind::Star(star) => self.star_value(star, place)?,
                _ => self.compile(arg, place)?,
            });
        }
        if def.name == "deduplicate" {
            args.insert(0, self.scope.whole()?);
        }
        Ok(args)
    }

    /// Whether an expression holds an aggregate, itself or by an alias.
    pub fn holds_aggregate(&self, e: &sql::Expr) -> bool {
        let mut seen = vec![false; self.select.items.len()];
        self.finds_aggregate(e, &mut seen)
    }

    fn finds_aggregate(&self, e: &sql::Expr, seen: &mut [bool]) -> bool {
        if let ExprKind::Call(call) = &e.kind {
            let def = rekuiper_functions::lookup(&call.name)
                .or_else(|| self.catalog.external_function(&call.name));
            if def.is_some_and(FunctionDef::is_aggregate) {
                return true;
            }
        }
        if let ExprKind::Column {
            qualifier: None,
            name,
        } = &e.kind
            && let Some(at) = self.alias_of(name)
        {
            if std::mem::replace(&mut seen[at], true) {
                return false;
            }
            let whole = &self.select.items[at].expr;
            return sql::deep(|| self.finds_aggregate(whole, seen));
        }
        children(e)
            .into_iter()
            .any(|c| sql::deep(|| self.finds_aggregate(c, seen)))
    }
}

/// The expressions directly below one.
pub(crate) fn children(e: &sql::Expr) -> Vec<&sql::Expr> {
    match &e.kind {
        ExprKind::Paren(a)
        | ExprKind::Unary { expr: a, .. }
        | ExprKind::Member { base: a, .. }
        | ExprKind::IsNull { expr: a, .. } => vec![a],
        ExprKind::Binary { left, right, .. } => vec![left, right],
        ExprKind::Index { base, index } => vec![base, index],
        ExprKind::Like { expr, pattern, .. } => vec![expr, pattern],
        ExprKind::Slice { base, from, to } => [Some(base), from.as_ref(), to.as_ref()]
            .into_iter()
            .flatten()
            .map(|e| &**e)
            .collect(),
        ExprKind::Between {
            expr, low, high, ..
        } => vec![expr, low, high],
        ExprKind::In {
            expr,
            list: InList::Value(array),
            ..
        } => vec![expr, array],
        ExprKind::In {
            expr,
            list: InList::Items(items),
            ..
        } => std::iter::once(&**expr).chain(items).collect(),
        ExprKind::Case(case) => {
            let whens = case.whens.iter().flat_map(|(w, t)| [w, t]);
            let ends = [&case.value, &case.else_]
                .into_iter()
                .flatten()
                .map(|e| &**e);
            whens.chain(ends).collect()
        }
        ExprKind::Call(call) => call.args.iter().collect(),
        ExprKind::Star(star) => star.replace.iter().map(|(e, _)| e).collect(),
        _ => Vec::new(),
    }
}
