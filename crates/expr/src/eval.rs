//! The row interpreter: covers every expression, and is the judge of the kernels.

use rekuiper_value::{Error, Object, Result, Str, Value};
use smallvec::SmallVec;

use crate::arith::{arith, bit, neg, unfit};
use crate::compare::{between, compare};
use crate::shape::roomy;
use crate::{Env, Expr, LikePattern, Part, access};

impl Expr {
    /// The value for one row. An error loses the row (or the emission), never more.
    pub fn eval(&self, env: Env<'_>, row: usize) -> Result<Value> {
        match self {
            Expr::Col(index) => Ok(env.frame.value(*index, row)),
            Expr::Lit(value) => Ok(value.clone()),
            Expr::Neg(e) => neg(&e.eval(env, row)?),
            Expr::Arith(op, p) => arith(*op, &p.0.eval(env, row)?, &p.1.eval(env, row)?),
            Expr::Bit(op, p) => bit(*op, &p.0.eval(env, row)?, &p.1.eval(env, row)?),
            Expr::Not(e) => Ok(tri(e, env, row)?.map_or(Value::Null, |b| Value::Bool(!b))),
            Expr::And(p) => logic(p, env, row, false),
            Expr::Or(p) => logic(p, env, row, true),
            Expr::Cmp(..)
            | Expr::Between { .. }
            | Expr::InList { .. }
            | Expr::InArray { .. }
            | Expr::Like { .. }
            | Expr::LikeDyn { .. } => Ok(Value::Bool(tri(self, env, row)?.unwrap_or(false))),
            Expr::IsNull { value, not } => Ok(Value::Bool(value.eval(env, row)?.is_null() != *not)),
            Expr::Case {
                value,
                whens,
                otherwise,
            } => case(value.as_deref(), whens, otherwise.as_deref(), env, row),
            Expr::Call { def, args } => {
                let mut values: SmallVec<[Value; 4]> = SmallVec::with_capacity(args.len());
                for arg in args.iter() {
                    values.push(arg.eval(env, row)?);
                }
                def.call(&values, env.cx)
            }
            Expr::Member { base, name } => access::member(&base.eval(env, row)?, name),
            Expr::Index { args } => access::index(&args.0.eval(env, row)?, &args.1.eval(env, row)?),
            Expr::Slice { base, from, to } => {
                let base = base.eval(env, row)?;
                let from = from.as_ref().map(|e| e.eval(env, row)).transpose()?;
                let to = to.as_ref().map(|e| e.eval(env, row)).transpose()?;
                access::slice(&base, from.as_ref(), to.as_ref())
            }
            Expr::Row(parts) => Ok(Value::object(row_object(parts, env, row)?)),
            Expr::Array(items) => {
                let mut values = Vec::with_capacity(items.len());
                for item in items.iter() {
                    values.push(match item.eval(env, row)? {
                        Value::Missing => Value::Null,
                        value => value,
                    });
                }
                Ok(Value::array(values))
            }
            Expr::FirstOf(cols) => Ok(first_of(cols, env, row)),
            Expr::Deep(deep) => roomy(|| deep.inner().eval(env, row)),
        }
    }
}

/// Whether a condition holds: true only for boolean true; null does not; other kinds are errors.
pub fn truth(condition: &Expr, env: Env<'_>, row: usize) -> Result<bool> {
    match condition.eval(env, row)? {
        Value::Bool(b) => Ok(b),
        Value::Missing | Value::Null => Ok(false),
        other => Err(Error::new(format!(
            "invalid condition that returns a {} instead of a boolean",
            other.kind_name()
        ))),
    }
}

/// Three-valued truth: `None` where the outcome hangs on a null. Only NOT needs to know; everything
/// else takes unknown as false, as eKuiper does.
pub fn tri(condition: &Expr, env: Env<'_>, row: usize) -> Result<Option<bool>> {
    let negate = |found: Option<bool>, not: bool| found.map(|b| b != not);
    match condition {
        Expr::Cmp(op, p) => compare(*op, &p.0.eval(env, row)?, &p.1.eval(env, row)?),
        Expr::Between { args, not } => {
            let value = args.0.eval(env, row)?;
            let (low, high) = (args.1.eval(env, row)?, args.2.eval(env, row)?);
            Ok(negate(between(&value, &low, &high)?, *not))
        }
        Expr::InList { value, items, not } => {
            let found = in_list(&value.eval(env, row)?, items, env, row)?;
            Ok(negate(found, *not))
        }
        Expr::InArray { args, not } => {
            let (value, array) = (args.0.eval(env, row)?, args.1.eval(env, row)?);
            Ok(negate(in_array(&value, &array)?, *not))
        }
        Expr::Like {
            value,
            pattern,
            not,
        } => Ok(Some(like(&value.eval(env, row)?, pattern)? != *not)),
        Expr::LikeDyn { args, not } => {
            let (value, pattern) = (args.0.eval(env, row)?, args.1.eval(env, row)?);
            let Value::Str(text) = &pattern else {
                return Err(unfit(&value, "LIKE", &pattern));
            };
            Ok(Some(like(&value, &LikePattern::new(text))? != *not))
        }
        Expr::Not(e) => Ok(tri(e, env, row)?.map(|b| !b)),
        Expr::Deep(deep) => roomy(|| tri(deep.inner(), env, row)),
        Expr::And(p) => {
            let left = tri(&p.0, env, row)?;
            if left == Some(false) {
                return Ok(left);
            }
            let right = tri(&p.1, env, row)?;
            Ok(if right == Some(false) {
                right
            } else {
                left.and(right)
            })
        }
        Expr::Or(p) => {
            let left = tri(&p.0, env, row)?;
            if left == Some(true) {
                return Ok(left);
            }
            let right = tri(&p.1, env, row)?;
            Ok(if right == Some(true) {
                right
            } else {
                left.and(right)
            })
        }
        other => match other.eval(env, row)? {
            Value::Bool(b) => Ok(Some(b)),
            Value::Missing | Value::Null => Ok(None),
            wrong => Err(Error::new(format!(
                "expected a boolean, found a {}",
                wrong.kind_name()
            ))),
        },
    }
}

/// Whether one of the items is the value; unknown where the value is null.
fn in_list(value: &Value, items: &[Expr], env: Env<'_>, row: usize) -> Result<Option<bool>> {
    if value.is_null() {
        return Ok(None);
    }
    for item in items {
        if same(value, &item.eval(env, row)?)? {
            return Ok(Some(true));
        }
    }
    Ok(Some(false))
}

/// The same of an array's elements; no array holds nothing.
fn in_array(value: &Value, array: &Value) -> Result<Option<bool>> {
    match array {
        Value::Missing | Value::Null => Ok(Some(false)),
        _ if value.is_null() => Ok(None),
        Value::Array(items) => {
            for item in items.iter() {
                if same(value, item)? {
                    return Ok(Some(true));
                }
            }
            Ok(Some(false))
        }
        other => Err(unfit(value, "IN", other)),
    }
}

fn like(value: &Value, pattern: &LikePattern) -> Result<bool> {
    match value {
        Value::Str(text) => Ok(pattern.matches(text)),
        other => Err(unfit(other, "LIKE", &Value::str(pattern.text()))),
    }
}

/// Equality as IN and CASE use it: null is never equal; kinds that cannot be compared are errors.
fn same(left: &Value, right: &Value) -> Result<bool> {
    Ok(compare(crate::CmpOp::Eq, left, right)?.unwrap_or(false))
}

/// AND and OR as eKuiper runs them: the left side may settle it; else both are looked at, and null
/// on either side gives false.
fn logic(pair: &(Expr, Expr), env: Env<'_>, row: usize, settles: bool) -> Result<Value> {
    let left = pair.0.eval(env, row)?;
    if left.as_bool() == Some(settles) {
        return Ok(Value::Bool(settles));
    }
    let right = pair.1.eval(env, row)?;
    if left.is_null() || right.is_null() {
        return Ok(Value::Bool(false));
    }
    match (left.as_bool(), right.as_bool()) {
        (Some(_), Some(b)) => Ok(Value::Bool(b)),
        _ => Err(unfit(&left, if settles { "OR" } else { "AND" }, &right)),
    }
}

fn case(
    value: Option<&Expr>,
    whens: &[(Expr, Expr)],
    otherwise: Option<&Expr>,
    env: Env<'_>,
    row: usize,
) -> Result<Value> {
    let subject = value.map(|e| e.eval(env, row)).transpose()?;
    for (when, then) in whens {
        let hit = match &subject {
            Some(subject) => same(subject, &when.eval(env, row)?)?,
            None => truth(when, env, row)?,
        };
        if hit {
            return then.eval(env, row);
        }
    }
    otherwise.map_or(Ok(Value::Null), |e| e.eval(env, row))
}

fn first_of(cols: &[u16], env: Env<'_>, row: usize) -> Value {
    cols.iter()
        .map(|c| env.frame.value(*c, row))
        .find(|v| !v.is_missing())
        .unwrap_or_default()
}

fn row_object(parts: &[Part], env: Env<'_>, row: usize) -> Result<Object> {
    let mut members = Object::new();
    let mut put = |name: &Str, value: Value, over: bool| {
        if !value.is_missing() && (over || !members.contains_key(name)) {
            members.insert(name.clone(), value);
        }
    };
    let mut gone: SmallVec<[&Str; 4]> = SmallVec::new();
    for part in parts {
        match part {
            Part::Spread(e) | Part::SpreadUnder(e) => {
                if let Value::Object(o) = e.eval(env, row)? {
                    for (name, value) in o.iter() {
                        put(name, value.clone(), matches!(part, Part::Spread(_)));
                    }
                }
            }
            Part::Named(name, e) => put(name, e.eval(env, row)?, true),
            Part::NamedUnder(name, e) => put(name, e.eval(env, row)?, false),
            Part::Without(name) => gone.push(name),
        }
    }
    for name in gone {
        members.remove(name);
    }
    Ok(members)
}
