//! Batch kernels: filters and arithmetic over whole columns, with the row interpreter for every row
//! that is not plain. They must give exactly what [`Expr::eval`] gives.

use rekuiper_value::{CellKind, Column, Error, Value};

use crate::{ArithOp, CmpOp, Env, Expr, Frame, truth};

/// A WHERE condition taken apart for batches.
pub enum Predicate {
    /// column OP number
    Num {
        col: u16,
        op: CmpOp,
        lit: f64,
        slow: Expr,
    },
    /// column = text or column != text
    Text {
        col: u16,
        equal: bool,
        lit: Box<[u8]>,
        slow: Expr,
    },
    /// arithmetic OP arithmetic
    Calc {
        op: CmpOp,
        sides: Box<(NumExpr, NumExpr)>,
        slow: Expr,
    },
    /// Both sides filter one after the other.
    And(Box<(Predicate, Predicate)>),
    /// Everything else.
    Rows(Expr),
}

impl Predicate {
    pub fn new(condition: Expr) -> Self {
        match condition {
            // `a AND b` keeps a row only if both are true: with the left one true the right one
            // decides, so two filters in a row give the same, errors included.
            Expr::And(pair) if is_condition(&pair.0) && is_condition(&pair.1) => {
                let (left, right) = *pair;
                Predicate::And(Box::new((Predicate::new(left), Predicate::new(right))))
            }
            Expr::Cmp(op, pair) => {
                let found = match (&pair.0, &pair.1) {
                    (Expr::Col(col), Expr::Lit(lit)) => Some((*col, op, lit.clone())),
                    (Expr::Lit(lit), Expr::Col(col)) => Some((*col, op.flipped(), lit.clone())),
                    _ => None,
                };
                let sides = NumExpr::tree(&pair.0).zip(NumExpr::tree(&pair.1));
                let slow = Expr::Cmp(op, pair);
                match (found, sides) {
                    (Some((col, op, lit)), _) => Self::column(col, op, lit, slow),
                    (None, Some(sides)) => Predicate::Calc {
                        op,
                        sides: Box::new(sides),
                        slow,
                    },
                    (None, None) => Predicate::Rows(slow),
                }
            }
            // a number between two literals: at or above the one, at or below the other
            Expr::Between { args, not: false }
                if matches!(*args, (Expr::Col(_), Expr::Lit(_), Expr::Lit(_)))
                    && is_plain(&args.1)
                    && is_plain(&args.2) =>
            {
                let (value, low, high) = *args;
                let from = Predicate::new(Expr::cmp(CmpOp::Ge, value.clone(), low));
                let to = Predicate::new(Expr::cmp(CmpOp::Le, value, high));
                Predicate::And(Box::new((from, to)))
            }
            other => Predicate::Rows(other),
        }
    }

    /// A comparison of a column with a number that every kept row has passed, where there is one.
    pub fn threshold(&self) -> Option<(u16, CmpOp, f64)> {
        match self {
            Predicate::Num { col, op, lit, .. } => Some((*col, *op, *lit)),
            Predicate::And(pair) => pair.0.threshold(),
            _ => None,
        }
    }

    fn column(col: u16, op: CmpOp, lit: Value, slow: Expr) -> Self {
        match lit {
            Value::Float(f) if f.is_finite() => Predicate::Num {
                col,
                op,
                lit: f,
                slow,
            },
            Value::Int(i) if i.unsigned_abs() <= 1 << 53 => Predicate::Num {
                col,
                op,
                lit: i as f64,
                slow,
            },
            Value::Str(s) if matches!(op, CmpOp::Eq | CmpOp::Ne) => {
                let equal = op == CmpOp::Eq;
                Predicate::Text {
                    col,
                    equal,
                    lit: s.as_bytes().into(),
                    slow,
                }
            }
            _ => Predicate::Rows(slow),
        }
    }

    /// Keeps in `sel` the rows for which the condition is true; rows for which it fails are taken
    /// out and their errors handed to `on_error`.
    pub fn select(&self, env: Env<'_>, sel: &mut Vec<u32>, on_error: &mut dyn FnMut(u32, Error)) {
        match self {
            Predicate::Num { col, op, lit, slow } => {
                let Some(column) = env.frame.col(*col) else {
                    return slow_rows(slow, env, sel, on_error);
                };
                let nums = column.nums();
                if !nums.all_plain {
                    return mixed(&nums.vals, &nums.plain, *op, *lit, slow, env, sel, on_error);
                }
                let (vals, lit) = (&nums.vals[..], *lit);
                match op {
                    CmpOp::Eq => keep(sel, vals, |v| v == lit),
                    CmpOp::Ne => keep(sel, vals, |v| v != lit),
                    CmpOp::Lt => keep(sel, vals, |v| v < lit),
                    CmpOp::Le => keep(sel, vals, |v| v <= lit),
                    CmpOp::Gt => keep(sel, vals, |v| v > lit),
                    CmpOp::Ge => keep(sel, vals, |v| v >= lit),
                }
            }
            Predicate::Text {
                col,
                equal,
                lit,
                slow,
            } => {
                let Some((cells, bytes)) = env.frame.col(*col).and_then(|c| c.as_cells()) else {
                    return slow_rows(slow, env, sel, on_error);
                };
                sel.retain(|&row| match cells.get(row as usize) {
                    Some(c) if matches!(c.kind(), CellKind::Plain) => {
                        (c.slice(bytes) == &lit[..]) == *equal
                    }
                    _ => keeps(slow, env, row, on_error),
                });
            }
            Predicate::Calc { op, sides, slow } => {
                let (left, right) = &**sides;
                if !left.applies(env) || !right.applies(env) {
                    return slow_rows(slow, env, sel, on_error);
                }
                sel.retain(|&row| {
                    match left.at(env, row as usize).zip(right.at(env, row as usize)) {
                        Some((a, b)) => a.partial_cmp(&b).is_some_and(|order| op.holds(order)),
                        None => keeps(slow, env, row, on_error),
                    }
                });
            }
            Predicate::And(pair) => {
                pair.0.select(env, sel, on_error);
                pair.1.select(env, sel, on_error);
            }
            Predicate::Rows(condition) => slow_rows(condition, env, sel, on_error),
        }
    }
}

/// A literal that [`Predicate::Num`] takes.
fn is_plain(e: &Expr) -> bool {
    match e {
        Expr::Lit(Value::Float(f)) => f.is_finite(),
        Expr::Lit(Value::Int(i)) => i.unsigned_abs() <= 1 << 53,
        _ => false,
    }
}

/// Whether the expression can only be a boolean, null, or an error: then AND may be split.
fn is_condition(e: &Expr) -> bool {
    matches!(
        e,
        Expr::Cmp(..)
            | Expr::Between { .. }
            | Expr::InList { .. }
            | Expr::InArray { .. }
            | Expr::Like { .. }
            | Expr::LikeDyn { .. }
            | Expr::IsNull { .. }
    ) || matches!(e, Expr::And(p) | Expr::Or(p) if is_condition(&p.0) && is_condition(&p.1))
}

#[inline(always)]
fn keep(sel: &mut Vec<u32>, vals: &[f64], test: impl Fn(f64) -> bool) {
    // branch-free compaction: write every candidate, advance only on a hit
    let mut kept = 0;
    for at in 0..sel.len() {
        let row = sel[at];
        sel[kept] = row;
        kept += usize::from(vals.get(row as usize).is_some_and(|v| test(*v)));
    }
    sel.truncate(kept);
}

#[allow(clippy::too_many_arguments)]
fn mixed(
    vals: &[f64],
    plain: &[bool],
    op: CmpOp,
    lit: f64,
    slow: &Expr,
    env: Env<'_>,
    sel: &mut Vec<u32>,
    on_error: &mut dyn FnMut(u32, Error),
) {
    sel.retain(|&row| {
        let at = row as usize;
        if plain.get(at) == Some(&true) {
            return vals[at].partial_cmp(&lit).is_some_and(|o| op.holds(o));
        }
        keeps(slow, env, row, on_error)
    });
}

fn keeps(slow: &Expr, env: Env<'_>, row: u32, on_error: &mut dyn FnMut(u32, Error)) -> bool {
    truth(slow, env, row as usize).unwrap_or_else(|error| {
        on_error(row, error);
        false
    })
}

fn slow_rows(
    condition: &Expr,
    env: Env<'_>,
    sel: &mut Vec<u32>,
    on_error: &mut dyn FnMut(u32, Error),
) {
    sel.retain(|&row| keeps(condition, env, row, on_error));
}

/// Arithmetic over columns and literals whose result is a double wherever all columns are plain
/// doubles.
#[derive(Clone)]
pub enum NumExpr {
    Col(u16),
    Lit(f64),
    Op(ArithOp, Box<(NumExpr, NumExpr)>),
}

impl NumExpr {
    /// `None` where the expression is no such arithmetic, or would not give a double (two integer
    /// literals divide as integers).
    pub fn of(e: &Expr) -> Option<NumExpr> {
        let found = Self::tree(e)?;
        matches!(found, NumExpr::Op(..)).then_some(found)
    }

    /// Arithmetic, a column or a literal.
    fn tree(e: &Expr) -> Option<NumExpr> {
        match e {
            Expr::Col(col) => Some(NumExpr::Col(*col)),
            Expr::Lit(Value::Float(f)) => Some(NumExpr::Lit(*f)),
            Expr::Lit(Value::Int(i)) if i.unsigned_abs() <= 1 << 53 => {
                Some(NumExpr::Lit(*i as f64))
            }
            Expr::Arith(op, p) => {
                let int = |e: &Expr| matches!(e, Expr::Lit(Value::Int(_)));
                if int(&p.0) && int(&p.1) {
                    return None;
                }
                let (left, right) = (Self::tree(&p.0)?, Self::tree(&p.1)?);
                if matches!((&left, &right), (NumExpr::Lit(_), NumExpr::Lit(_))) {
                    return None;
                }
                Some(NumExpr::Op(*op, Box::new((left, right))))
            }
            _ => None,
        }
    }

    /// Whether every column in it is held as plain doubles in this frame.
    pub fn applies(&self, env: Env<'_>) -> bool {
        self.applies_to(env.frame)
    }

    /// The same without a context.
    pub fn applies_to(&self, frame: &Frame<'_>) -> bool {
        match self {
            NumExpr::Col(col) => frame.col(*col).is_some_and(Column::is_doubles),
            NumExpr::Lit(_) => true,
            NumExpr::Op(_, p) => p.0.applies_to(frame) && p.1.applies_to(frame),
        }
    }

    /// The values of all rows in `sel`, in its order, where it [`applies`](Self::applies). What is
    /// not finite is the row interpreter's matter: it knows whether that is an error.
    pub fn column(&self, frame: &Frame<'_>, sel: &[u32]) -> Vec<f64> {
        match self.computed(frame, sel) {
            Computed::Each(values) => values,
            Computed::All(value) => vec![value; sel.len()],
        }
    }

    fn computed(&self, frame: &Frame<'_>, sel: &[u32]) -> Computed {
        match self {
            NumExpr::Col(col) => {
                let vals = frame.col(*col).map_or(&[][..], |c| &c.nums().vals);
                let value = |row: &u32| vals.get(*row as usize).copied().unwrap_or(f64::NAN);
                Computed::Each(sel.iter().map(value).collect())
            }
            NumExpr::Lit(f) => Computed::All(*f),
            NumExpr::Op(op, p) => {
                let (a, b) = (p.0.computed(frame, sel), p.1.computed(frame, sel));
                match op {
                    ArithOp::Add => a.with(b, |a, b| a + b),
                    ArithOp::Sub => a.with(b, |a, b| a - b),
                    ArithOp::Mul => a.with(b, |a, b| a * b),
                    // by zero: not finite, so that the interpreter gives the error
                    ArithOp::Div => a.with(b, |a, b| if b == 0.0 { f64::NAN } else { a / b }),
                    ArithOp::Mod => a.with(b, |a, b| if b == 0.0 { f64::NAN } else { a % b }),
                }
            }
        }
    }

    /// The value for one row where it [`applies`](Self::applies); `None` on division by zero (the
    /// row interpreter then gives the error).
    #[inline]
    pub fn at(&self, env: Env<'_>, row: usize) -> Option<f64> {
        match self {
            NumExpr::Col(col) => env.frame.col(*col)?.nums().vals.get(row).copied(),
            NumExpr::Lit(f) => Some(*f),
            NumExpr::Op(op, p) => {
                let (a, b) = (p.0.at(env, row)?, p.1.at(env, row)?);
                match op {
                    ArithOp::Add => Some(a + b),
                    ArithOp::Sub => Some(a - b),
                    ArithOp::Mul => Some(a * b),
                    ArithOp::Div => (b != 0.0).then(|| a / b),
                    ArithOp::Mod => (b != 0.0).then(|| a % b),
                }
            }
        }
    }
}

/// A [`NumExpr`] over many rows: a value each, or one for all.
enum Computed {
    Each(Vec<f64>),
    All(f64),
}

impl Computed {
    #[inline(always)]
    fn with(self, other: Computed, op: impl Fn(f64, f64) -> f64) -> Computed {
        match (self, other) {
            (Computed::Each(mut a), Computed::All(b)) => {
                a.iter_mut().for_each(|a| *a = op(*a, b));
                Computed::Each(a)
            }
            (Computed::All(a), Computed::Each(mut b)) => {
                b.iter_mut().for_each(|b| *b = op(a, *b));
                Computed::Each(b)
            }
            (Computed::Each(mut a), Computed::Each(b)) => {
                a.iter_mut().zip(&b).for_each(|(a, b)| *a = op(*a, *b));
                Computed::Each(a)
            }
            (Computed::All(a), Computed::All(b)) => Computed::All(op(a, b)),
        }
    }
}
