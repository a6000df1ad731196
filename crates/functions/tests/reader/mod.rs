//! A small reader of expressions for the case tests: literals, columns, calls, arithmetic,
//! comparisons, AND, CASE.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use rekuiper_functions::{ArgKind, Cx, Kind, NoHost, RowTimes, lookup};
use rekuiper_sql::{BinaryOp, Expr, ExprKind, TimeUnit, UnaryOp};
use rekuiper_value::Value;

pub enum Stop {
    /// The row is lost.
    Lost(String),
    /// The expression is beyond this reader.
    Unfit,
}

#[derive(Debug)]
pub enum Unfit {
    Refused(String),
    Other,
}

type Row = BTreeMap<String, Value>;

pub fn evaluate(expr: &Expr, row: &Row) -> Result<Value, Stop> {
    match &expr.kind {
        ExprKind::Int(i) => Ok(Value::Int(*i)),
        ExprKind::Float(f) => Ok(Value::Float(*f)),
        ExprKind::Str(s) => Ok(Value::Str(s.clone())),
        ExprKind::Bool(b) => Ok(Value::Bool(*b)),
        ExprKind::Column {
            qualifier: None,
            name,
        } => Ok(row.get(name.as_str()).cloned().unwrap_or(Value::Missing)),
        ExprKind::Paren(inner) => evaluate(inner, row),
        ExprKind::Unary {
            op: UnaryOp::Neg,
            expr,
        } => binary(BinaryOp::Sub, Value::Int(0), evaluate(expr, row)?),
        ExprKind::Binary { op, left, right } => {
            binary(*op, evaluate(left, row)?, evaluate(right, row)?)
        }
        ExprKind::Call(call) => {
            let def = lookup(&call.name).ok_or(Stop::Unfit)?;
            if !matches!(def.kind, Kind::Scalar(_)) || call.over.is_some() {
                return Err(Stop::Unfit);
            }
            let args: Result<Vec<Value>, Stop> =
                call.args.iter().map(|a| evaluate(a, row)).collect();
            let zone = TimeZone::UTC;
            let cx = Cx {
                now_ms: 1_700_000_000_123,
                rule_id: "rule",
                rule_start: 0,
                zone: &zone,
                row: RowTimes::default(),
                host: &NoHost,
            };
            def.call(&args?, &cx).map_err(|e| Stop::Lost(e.to_string()))
        }
        ExprKind::Case(case) if case.value.is_none() => {
            for (when, then) in &case.whens {
                if evaluate(when, row)?.as_bool() == Some(true) {
                    return evaluate(then, row);
                }
            }
            case.else_
                .as_ref()
                .map_or(Ok(Value::Null), |e| evaluate(e, row))
        }
        _ => Err(Stop::Unfit),
    }
}

fn binary(op: BinaryOp, left: Value, right: Value) -> Result<Value, Stop> {
    if op == BinaryOp::And {
        return match (left.as_bool(), right.as_bool()) {
            (Some(l), Some(r)) => Ok(Value::Bool(l && r)),
            _ => Err(Stop::Unfit),
        };
    }
    if op.is_comparison() {
        return compare(op, &left, &right);
    }
    if left.is_null() || right.is_null() {
        return Ok(Value::Null);
    }
    match (op, &left, &right) {
        (BinaryOp::Add, Value::Int(l), Value::Int(r)) => Ok(Value::Int(l.wrapping_add(*r))),
        (BinaryOp::Sub, Value::Int(l), Value::Int(r)) => Ok(Value::Int(l.wrapping_sub(*r))),
        (BinaryOp::Mul, Value::Int(l), Value::Int(r)) => Ok(Value::Int(l.wrapping_mul(*r))),
        _ => {
            let (Some(l), Some(r)) = (left.as_f64(), right.as_f64()) else {
                return Err(Stop::Unfit);
            };
            match op {
                BinaryOp::Add => Ok(Value::Float(l + r)),
                BinaryOp::Sub => Ok(Value::Float(l - r)),
                BinaryOp::Mul => Ok(Value::Float(l * r)),
                _ => Err(Stop::Unfit),
            }
        }
    }
}

fn compare(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, Stop> {
    let order = match (left, right) {
        (l, r) if l.is_null() || r.is_null() => return Ok(Value::Bool(false)),
        (Value::Str(l), Value::Str(r)) => l.cmp(r),
        (Value::Time(l), Value::Time(r)) => l.timestamp().cmp(&r.timestamp()),
        (l, r) => match (l.as_f64(), r.as_f64()) {
            (Some(l), Some(r)) => l.partial_cmp(&r).ok_or(Stop::Unfit)?,
            _ => return Err(Stop::Unfit),
        },
    };
    Ok(Value::Bool(match op {
        BinaryOp::Eq => order == Ordering::Equal,
        BinaryOp::Ne => order != Ordering::Equal,
        BinaryOp::Lt => order == Ordering::Less,
        BinaryOp::Le => order != Ordering::Greater,
        BinaryOp::Gt => order == Ordering::Greater,
        BinaryOp::Ge => order != Ordering::Less,
        _ => return Err(Stop::Unfit),
    }))
}

/// Checks all calls of an expression as is done when a rule is made.
pub fn check_calls(expr: &Expr) -> Result<(), Unfit> {
    match &expr.kind {
        ExprKind::Call(call) => {
            call.args.iter().try_for_each(check_calls)?;
            let def = lookup(&call.name).ok_or(Unfit::Other)?;
            let kinds: Vec<ArgKind> = call.args.iter().map(looks).collect();
            def.check_args(&kinds).map_err(Unfit::Refused)
        }
        ExprKind::Paren(inner) | ExprKind::Unary { expr: inner, .. } => check_calls(inner),
        ExprKind::Binary { left, right, .. } => {
            check_calls(left)?;
            check_calls(right)
        }
        ExprKind::Case(case) => {
            for (when, then) in &case.whens {
                check_calls(when)?;
                check_calls(then)?;
            }
            case.else_.as_ref().map_or(Ok(()), |e| check_calls(e))
        }
        _ => Ok(()),
    }
}

fn looks(expr: &Expr) -> ArgKind {
    match &expr.kind {
        ExprKind::Int(i) => ArgKind::Literal(Value::Int(*i)),
        ExprKind::Float(f) => ArgKind::Literal(Value::Float(*f)),
        ExprKind::Str(s) => ArgKind::Literal(Value::Str(s.clone())),
        ExprKind::Bool(b) => ArgKind::Literal(Value::Bool(*b)),
        ExprKind::TimeUnit(unit) => ArgKind::Unit(unit_word(*unit)),
        ExprKind::Column { .. } => ArgKind::Column,
        ExprKind::Call(_) => ArgKind::Call,
        ExprKind::Star(_) => ArgKind::Star,
        ExprKind::Paren(inner) => looks(inner),
        ExprKind::Unary {
            op: UnaryOp::Neg,
            expr,
        } => match looks(expr) {
            ArgKind::Literal(Value::Int(i)) => ArgKind::Literal(Value::Int(i.wrapping_neg())),
            ArgKind::Literal(Value::Float(f)) => ArgKind::Literal(Value::Float(-f)),
            _ => ArgKind::Other,
        },
        ExprKind::Binary { op, .. } if op.is_comparison() => ArgKind::Comparison,
        _ => ArgKind::Other,
    }
}

fn unit_word(unit: TimeUnit) -> &'static str {
    unit.word()
}
