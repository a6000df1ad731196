//! Calls: which function, whether its arguments may stand there, and what runs it.

use rekuiper_expr::Expr;
use rekuiper_functions::{ArgKind, FunctionDef, Kind};
use rekuiper_sql::{self as sql, Call, ExprKind, Span, UnaryOp};
use rekuiper_value::Value;

use crate::compile::{Place, Planner, refuse};
use crate::error::{PlanError, Result};

/// Functions that ask for the times and counters of the row at hand.
pub(crate) const ROW_CONTEXT: &[&str] = &[
    "event_time",
    "window_start",
    "window_end",
    "window_trigger",
    "last_hit_count",
    "last_hit_time",
    "last_agg_hit_count",
    "last_agg_hit_time",
];

impl Planner<'_> {
    /// The definition that a call means.
    pub fn function(&self, call: &Call, span: Span) -> Result<&'static FunctionDef> {
        rekuiper_functions::lookup(&call.name)
            .or_else(|| self.catalog.external_function(&call.name))
            .ok_or_else(|| PlanError::at(span, format!("unknown function {}", call.original)))
    }

    pub(super) fn call(&mut self, call: &Call, span: Span, place: Place) -> Result<Expr> {
        let def = self.function(call, span)?;
        check_over(call, def, span)?;
        self.check_args(call, def, span)?;
        if matches!(def.kind, Kind::MultiRow) && place == Place::Select && self.calls_around == 0 {
            return self.unnest_within(call, def, span);
        }
        self.calls_around += 1;
        let made = self.call_of(call, def, span, place);
        self.calls_around -= 1;
        made
    }

    fn call_of(
        &mut self,
        call: &Call,
        def: &'static FunctionDef,
        span: Span,
        place: Place,
    ) -> Result<Expr> {
        match def.kind {
            Kind::Scalar(_) | Kind::External { aggregate: false, .. } => {
                self.check_context(def, span, place)?;
                if place == Place::Where && def.name.starts_with("window_") {
                    // the window's bounds are not known to WHERE, wherever it is tested
                    return Ok(Expr::Lit(Value::Null));
                }
                let args = call
                    .args
                    .iter()
                    .map(|a| self.compile(a, place))
                    .collect::<Result<_>>()?;
                Ok(Expr::Call { def, args })
            }
            Kind::Aggregate { .. } | Kind::External { aggregate: true, .. } => {
                self.aggregate(call, def, span, place)
            }
            Kind::Analytic(_) => self.analytic(call, def, span, place),
            Kind::MultiColumn(_) | Kind::MultiRow => Err(PlanError::at(
                span,
                format!("{} cannot stand in {}", def.name, inner(place)),
            )
            .expected("it as a whole item of the select list")),
            Kind::Window => self.row_number(call, def, span, place),
            Kind::Planned => match def.name {
                "meta" | "mqtt" => self.meta(call, span),
                _ => Err(PlanError::at(
                    span,
                    format!("{} cannot stand in {}", def.name, inner(place)),
                )
                .expected("it as a whole item of the select list")),
            },
        }
    }

    /// Functions of the row at hand, and the clauses where there is no such row.
    fn check_context(&mut self, def: &FunctionDef, span: Span, place: Place) -> Result<()> {
        if !ROW_CONTEXT.contains(&def.name) {
            return Ok(());
        }
        self.uses_row_context = true;
        if def.name.starts_with("last_hit_") && self.has_window {
            return Err(PlanError::at(
                span,
                format!("{} counts single rows, not windows", def.name),
            )
            .expected(format!(
                "{}()",
                def.name.replace("last_hit", "last_agg_hit")
            )));
        }
        if def.name.starts_with("window_") && place == Place::Having {
            return refuse(span, format!("{} cannot stand in HAVING", def.name));
        }
        Ok(())
    }

    pub(super) fn check_args(&self, call: &Call, def: &FunctionDef, span: Span) -> Result<()> {
        let kinds: Vec<ArgKind> = call.args.iter().map(arg_kind).collect();
        if let Some(at) = kinds.iter().position(|k| matches!(k, ArgKind::Star))
            && !takes_star(def)
        {
            let span = call.args.get(at).map_or(span, |a| a.span);
            return Err(
                PlanError::at(span, format!("{} does not take *", call.original))
                    .expected("a column"),
            );
        }
        def.check_args(&kinds)
            .map_err(|message| PlanError::at(span, message))
    }
}

fn inner(place: Place) -> String {
    match place {
        Place::Select => "another expression".to_owned(),
        other => other.words(),
    }
}

/// Functions that stand for all columns where they are given a star.
fn takes_star(def: &FunctionDef) -> bool {
    match def.kind {
        Kind::Aggregate { star, .. } => star,
        Kind::MultiColumn(_) => true,
        Kind::Analytic(_) => def.name == "had_changed",
        Kind::Planned => def.name == "meta",
        _ => false,
    }
}

fn check_over(call: &Call, def: &FunctionDef, span: Span) -> Result<()> {
    let Some(over) = &call.over else {
        return Ok(());
    };
    let refuse = |what: &str, expected: &str| {
        Err(PlanError::at(span, format!("{} takes no {what}", call.original)).expected(expected))
    };
    match def.kind {
        Kind::Analytic(_) | Kind::MultiColumn(_) if over.order.is_empty() => Ok(()),
        Kind::Analytic(_) | Kind::MultiColumn(_) => {
            refuse("ORDER BY in OVER", "OVER (PARTITION BY ... WHEN ...)")
        }
        Kind::Window if over.when.is_none() => Ok(()),
        Kind::Window => refuse("WHEN in OVER", "OVER (PARTITION BY ... ORDER BY ...)"),
        _ => refuse("OVER", "it only after analytic functions and row_number"),
    }
}

/// What an argument looks like before anything is known of the rows.
pub(crate) fn arg_kind(e: &sql::Expr) -> ArgKind {
    match &e.kind {
        ExprKind::Int(i) => ArgKind::Literal(Value::Int(*i)),
        ExprKind::Float(f) => ArgKind::Literal(Value::Float(*f)),
        ExprKind::Str(s) => ArgKind::Literal(Value::Str(s.clone())),
        ExprKind::Bool(b) => ArgKind::Literal(Value::Bool(*b)),
        ExprKind::TimeUnit(unit) => ArgKind::Unit(unit.word()),
        ExprKind::Column { .. } => ArgKind::Column,
        ExprKind::Call(_) => ArgKind::Call,
        ExprKind::Star(_) => ArgKind::Star,
        ExprKind::Between { .. }
        | ExprKind::In { .. }
        | ExprKind::Like { .. }
        | ExprKind::IsNull { .. }
        | ExprKind::Unary {
            op: UnaryOp::Not, ..
        } => ArgKind::Comparison,
        ExprKind::Binary { op, .. } if !op.is_arithmetic() => ArgKind::Comparison,
        _ => ArgKind::Other,
    }
}
