//! Analytic functions: run once for each row, in its order, before WHERE and the window; over
//! aggregates, once for each result.

use rekuiper_expr::Expr;
use rekuiper_functions::{FunctionDef, Kind};
use rekuiper_sql::{self as sql, Call, ExprKind, Over, Span};
use rekuiper_value::Value;

use crate::compile::{Place, Planner, Stage, refuse};
use crate::error::Result;
use crate::internal;
use crate::physical::AnalyticPlan;

impl Planner<'_> {
    pub(super) fn analytic(
        &mut self,
        call: &Call,
        def: &'static FunctionDef,
        span: Span,
        place: Place,
    ) -> Result<Expr> {
        let star = call
            .args
            .iter()
            .any(|a| matches!(a.kind, ExprKind::Star(_)));
        let mut args = Vec::with_capacity(call.args.len());
        for (at, arg) in call.args.iter().enumerate() {
            args.push(if star && at > 0 {
                self.named(arg, place)?
            } else {
                self.compile(arg, place)?
            });
        }
        let def = if star {
            &internal::HAD_CHANGED_STAR
        } else {
            def
        };
        self.analytic_call(def, args, call.over.as_ref(), span, place)
    }

    /// `changed_cols(prefix, ignoreNull, a, b + 1, *)`.
    pub fn multi_column(
        &mut self,
        call: &Call,
        def: &'static FunctionDef,
        span: Span,
    ) -> Result<Expr> {
        self.check_multi(call, def, span)?;
        let mut args = Vec::with_capacity(call.args.len());
        for (at, arg) in call.args.iter().enumerate() {
            args.push(if at < 2 {
                self.compile(arg, Place::Select)?
            } else {
                self.named(arg, Place::Select)?
            });
        }
        self.analytic_call(def, args, call.over.as_ref(), span, Place::Select)
    }

    /// A column with its name, `[name, value]`; a star is the whole row, whose members are such.
    fn named(&mut self, arg: &sql::Expr, place: Place) -> Result<Expr> {
        if let ExprKind::Star(star) = &arg.kind {
            return self.star_value(star, place);
        }
        let name = Expr::Lit(Value::str(arg.natural_name().unwrap_or("")));
        Ok(Expr::Array(Box::new([name, self.compile(arg, place)?])))
    }

    pub(super) fn analytic_call(
        &mut self,
        def: &'static FunctionDef,
        args: Vec<Expr>,
        over: Option<&Over>,
        span: Span,
        place: Place,
    ) -> Result<Expr> {
        let (mut partition, mut when) = (Vec::new(), None);
        if let Some(over) = over {
            for e in &over.partition {
                partition.push(self.compile(e, place)?);
            }
            when = over
                .when
                .as_ref()
                .map(|e| self.compile(e, place))
                .transpose()?;
        }
        let key = format!(
            "{}({}) over ({} when {})",
            def.name,
            self.texts(&args),
            self.texts(&partition),
            when.as_ref().map(|e| self.text(e)).unwrap_or_default()
        );
        let needs = args
            .iter()
            .chain(&partition)
            .chain(&when)
            .map(|e| self.needs(e))
            .max();
        let needs = needs.unwrap_or(Stage::Source);
        if needs == Stage::WhereAggregate {
            return refuse(
                span,
                format!("{} in WHERE cannot hold an aggregate", def.name),
            );
        }
        if needs > Stage::Late {
            return refuse(span, format!("{} cannot hold a window function", def.name));
        }
        // columns of results are made with the results: rows that WHERE drops do not count
        let late = needs >= Stage::Aggregate || matches!(def.kind, Kind::MultiColumn(_));
        if late {
            self.late_in_having |= place == Place::Having;
            self.late_in_order |= place == Place::Order;
        }
        if let Some(col) = self.calls.get(&key) {
            return Ok(Expr::Col(*col));
        }
        let stage = if late { Stage::Late } else { Stage::Early };
        let text = format!("{}({})", def.name, self.shows(&args));
        let col = self.computed(text, stage)?;
        self.calls.insert(key, col);
        let made = AnalyticPlan {
            def,
            args,
            partition,
            when,
            col,
        };
        if late {
            self.late.push(made)
        } else {
            self.early.push(made)
        }
        Ok(Expr::Col(col))
    }
}
