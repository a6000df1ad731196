//! Functions that stand beside the expressions: row_number, unnest, extract, dedup_trigger.

use rekuiper_expr::{Expr, Part};
use rekuiper_functions::{ArgKind, FunctionDef};
use rekuiper_sql::{self as sql, Call, ExprKind, Sort, Span, Star};

use crate::compile::{Place, Planner, Stage, arg_kind, refuse};
use crate::error::{PlanError, Result};
use crate::internal;
use crate::physical::{RowNumberPlan, SortKey, UnnestPlan};

impl Planner<'_> {
    pub(super) fn row_number(
        &mut self,
        call: &Call,
        def: &'static FunctionDef,
        span: Span,
        place: Place,
    ) -> Result<Expr> {
        if place != Place::Select {
            return Err(PlanError::at(
                span,
                format!(
                    "{} numbers results and cannot stand in {}",
                    def.name,
                    place.words()
                ),
            )
            .expected("it in the select list"));
        }
        let (mut partition, mut order) = (Vec::new(), Vec::new());
        if let Some(over) = &call.over {
            for e in &over.partition {
                partition.push(self.compile(e, place)?);
            }
            order = self.sort_keys(&over.order, place)?;
        }
        let keys: Vec<String> = order
            .iter()
            .map(|k| format!("{} {}", self.text(&k.expr), k.desc))
            .collect();
        let key = format!(
            "{}({};{})",
            def.name,
            self.texts(&partition),
            keys.join(", ")
        );
        if let Some(col) = self.calls.get(&key) {
            return Ok(Expr::Col(*col));
        }
        let col = self.computed(format!("{}()", def.name), Stage::RowNumber)?;
        self.calls.insert(key, col);
        self.row_numbers.push(RowNumberPlan {
            col,
            partition,
            order,
        });
        Ok(Expr::Col(col))
    }

    pub fn sort_keys(&mut self, sorts: &[Sort], place: Place) -> Result<Vec<SortKey>> {
        if let Some(sort) = sorts.iter().find(|s| begins_with_sign(&s.expr)) {
            return Err(
                PlanError::at(sort.expr.span, "a sort key cannot begin with a sign").expected(
                    "a key that begins with a column or function (and DESC to turn it round)",
                ),
            );
        }
        sorts
            .iter()
            .map(|s| {
                Ok(SortKey {
                    expr: self.compile(&s.expr, place)?,
                    desc: s.desc,
                })
            })
            .collect()
    }

    /// Several rows of one: the column of the element.
    pub fn unnest(&mut self, call: &Call, def: &'static FunctionDef, span: Span) -> Result<Expr> {
        let array = self.spread(call, def, span)?;
        let col = self.computed(
            format!("{}({})", def.name, self.show(&array)),
            Stage::Unnest,
        )?;
        self.unnest = Some(UnnestPlan {
            expr: array,
            col,
            limit: None,
        });
        Ok(Expr::Col(col))
    }

    /// `unnest` within an expression: eKuiper makes the rule, and every row of it fails.
    pub(super) fn unnest_within(
        &mut self,
        call: &Call,
        def: &'static FunctionDef,
        span: Span,
    ) -> Result<Expr> {
        let array = self.spread(call, def, span)?;
        Ok(Expr::Call {
            def: &internal::UNNEST_WITHIN,
            args: Box::new([array]),
        })
    }

    /// The argument of unnest or extract; one of them may be in a rule.
    pub fn spread(&mut self, call: &Call, def: &'static FunctionDef, span: Span) -> Result<Expr> {
        self.check_multi(call, def, span)?;
        self.spreads += 1;
        if self.spreads > 1 {
            return Err(
                PlanError::at(span, "a select list can spread one value only")
                    .expected("one unnest or extract"),
            );
        }
        match call.args.first() {
            Some(arg) => self.compile(arg, Place::Select),
            None => refuse(span, format!("{} needs an argument", def.name)),
        }
    }

    pub(super) fn check_multi(&self, call: &Call, def: &FunctionDef, span: Span) -> Result<()> {
        if call.over.is_some() && !matches!(def.kind, rekuiper_functions::Kind::MultiColumn(_)) {
            return refuse(span, format!("{} takes no OVER", def.name));
        }
        self.check_args(call, def, span)
    }

    /// `dedup_trigger(start, end, now, seconds)`: three columns and a literal; the result's column.
    pub fn dedup_trigger(&mut self, call: &Call, def: &FunctionDef, span: Span) -> Result<Expr> {
        self.check_multi(call, def, span)?;
        let mut args = Vec::with_capacity(5);
        for (at, arg) in call.args.iter().enumerate() {
            let fits = match arg_kind(arg) {
                ArgKind::Column => at < 3,
                ArgKind::Literal(rekuiper_value::Value::Int(_)) => at == 3,
                _ => false,
            };
            if !fits {
                return Err(PlanError::at(
                    arg.span,
                    format!("argument {} of dedup_trigger does not fit", at + 1),
                )
                .expected("dedup_trigger(column, column, column, whole number)"));
            }
            args.push(self.compile(arg, Place::Select)?);
        }
        if args.len() != 4 {
            return Err(PlanError::at(span, "dedup_trigger takes four arguments")
                .expected("dedup_trigger(column, column, column, whole number)"));
        }
        let col = self.computed("dedup_trigger()".to_owned(), Stage::Unnest)?;
        args.push(Expr::Col(col));
        self.dedup = Some(args);
        Ok(Expr::Col(col))
    }

    /// The parts of a star with its EXCEPT and REPLACE.
    pub fn star_parts(&mut self, star: &Star, span: Span, place: Place) -> Result<Vec<Part>> {
        let mut parts = match &star.qualifier {
            None => self.scope.whole_parts()?,
            Some(name) => {
                let source = self.scope.source_named(name).ok_or_else(|| {
                    PlanError::at(span, format!("there is no stream or table {name} here"))
                })?;
                vec![Part::Spread(self.scope.whole_of(source)?)]
            }
        };
        let mut replaced = Vec::with_capacity(star.replace.len());
        for (e, name) in &star.replace {
            replaced.push((name.clone(), self.compile(e, place)?));
        }
        // EXCEPT takes columns of the stream away, never what REPLACE puts there
        let kept = |name: &&rekuiper_sql::Name| !replaced.iter().any(|(n, _)| n == *name);
        parts.extend(
            star.except
                .iter()
                .filter(kept)
                .map(|name| Part::Without(name.clone())),
        );
        parts.extend(replaced.into_iter().map(|(name, e)| Part::Named(name, e)));
        Ok(parts)
    }

    /// A star as one value.
    pub(super) fn star_value(&mut self, star: &Star, place: Place) -> Result<Expr> {
        let mut parts = self.star_parts(star, Span::default(), place)?;
        match (parts.len(), parts.pop()) {
            (1, Some(Part::Spread(one))) => Ok(one),
            (_, Some(last)) => {
                parts.push(last);
                Ok(Expr::Row(parts.into()))
            }
            (_, None) => Ok(Expr::Row(Box::default())),
        }
    }
}

/// Whether the text of an expression begins with an operator.
fn begins_with_sign(mut e: &sql::Expr) -> bool {
    loop {
        e = match &e.kind {
            ExprKind::Unary { .. } => return true,
            ExprKind::Binary { left: first, .. }
            | ExprKind::Between { expr: first, .. }
            | ExprKind::In { expr: first, .. }
            | ExprKind::Like { expr: first, .. }
            | ExprKind::IsNull { expr: first, .. }
            | ExprKind::Member { base: first, .. }
            | ExprKind::Index { base: first, .. }
            | ExprKind::Slice { base: first, .. } => first,
            _ => return false,
        };
    }
}
