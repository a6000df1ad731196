//! Expressions as text.

use std::fmt::{self, Display, Formatter, Write};

use super::{Quoted, commas};
use crate::parse::level;
use crate::{Call, Case, Expr, ExprKind, InList, Over, Sort, Star, UnaryOp, Window, deep};

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        deep(|| self.kind.fmt(f))
    }
}

/// How tightly the outermost part of an expression binds.
fn tightness(kind: &ExprKind) -> u8 {
    match kind {
        ExprKind::Binary { op, .. } => op.level(),
        ExprKind::Between { .. }
        | ExprKind::In { .. }
        | ExprKind::Like { .. }
        | ExprKind::IsNull { .. } => level::COMPARE,
        ExprKind::Unary {
            op: UnaryOp::Not, ..
        } => level::NOT,
        ExprKind::Unary {
            op: UnaryOp::Neg, ..
        } => level::UNARY,
        // A sign is part of the literal, but nothing may be accessed in it.
        ExprKind::Int(n) if *n < 0 => level::UNARY,
        ExprKind::Float(n) if n.is_sign_negative() => level::UNARY,
        ExprKind::Member { .. } | ExprKind::Index { .. } | ExprKind::Slice { .. } => level::ACCESS,
        _ => level::ATOM,
    }
}

/// An operand, in parentheses where it binds looser than `least`.
fn operand(f: &mut Formatter<'_>, expr: &Expr, least: u8) -> fmt::Result {
    if tightness(&expr.kind) >= least {
        write!(f, "{expr}")
    } else {
        write!(f, "({expr})")
    }
}

impl Display for ExprKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ExprKind::Int(n) => write!(f, "{n}"),
            // Always with a point or an exponent, so that it stays a float.
            ExprKind::Float(n) => write!(f, "{n:?}"),
            ExprKind::Str(s) => string(f, s),
            ExprKind::Bool(b) => f.write_str(if *b { "TRUE" } else { "FALSE" }),
            ExprKind::TimeUnit(u) => f.write_str(u.word()),
            ExprKind::Column { qualifier, name } => {
                if let Some(q) = qualifier {
                    write!(f, "{}.", Quoted(q))?;
                }
                write!(f, "{}", Quoted(name))
            }
            ExprKind::Star(star) => write!(f, "{star}"),
            ExprKind::Paren(e) => write!(f, "({e})"),
            ExprKind::Unary { op, expr } => unary(f, *op, expr),
            ExprKind::Binary { op, left, right } => {
                operand(f, left, op.level())?;
                write!(f, " {} ", op.sign())?;
                operand(f, right, op.level() + 1)
            }
            ExprKind::Member { base, name, arrow } => {
                operand(f, base, level::ACCESS)?;
                // `1.x` would be read as the number `1.` and a word.
                let number = matches!(base.kind, ExprKind::Int(_) | ExprKind::Float(_));
                let sign = if *arrow {
                    "->"
                } else if number {
                    " ."
                } else {
                    "."
                };
                write!(f, "{sign}{}", Quoted(name))
            }
            ExprKind::Index { base, index } => {
                operand(f, base, level::ACCESS)?;
                write!(f, "[{index}]")
            }
            ExprKind::Slice { base, from, to } => slice(f, base, from.as_deref(), to.as_deref()),
            ExprKind::Between { .. }
            | ExprKind::In { .. }
            | ExprKind::Like { .. }
            | ExprKind::IsNull { .. } => test(f, self),
            ExprKind::Case(case) => write!(f, "{case}"),
            ExprKind::Call(call) => write!(f, "{call}"),
            ExprKind::Window(window) => write!(f, "{window}"),
        }
    }
}

fn unary(f: &mut Formatter<'_>, op: UnaryOp, expr: &Expr) -> fmt::Result {
    if op == UnaryOp::Not {
        f.write_str("NOT ")?;
        return operand(f, expr, level::NOT);
    }
    match &expr.kind {
        // `-5` would be one literal, `--` a comment, and parentheses would be kept.
        ExprKind::Int(n) if *n >= 0 => write!(f, "- +{n}"),
        ExprKind::Float(n) if !n.is_sign_negative() => write!(f, "- +{n:?}"),
        kind if tightness(kind) == level::UNARY => write!(f, "- {expr}"),
        _ => {
            f.write_char('-')?;
            operand(f, expr, level::UNARY)
        }
    }
}

fn slice(
    f: &mut Formatter<'_>,
    base: &Expr,
    from: Option<&Expr>,
    to: Option<&Expr>,
) -> fmt::Result {
    operand(f, base, level::ACCESS)?;
    f.write_char('[')?;
    if let Some(e) = from {
        write!(f, "{e}")?;
    }
    f.write_char(':')?;
    if let Some(e) = to {
        write!(f, "{e}")?;
    }
    f.write_char(']')
}

fn test(f: &mut Formatter<'_>, kind: &ExprKind) -> fmt::Result {
    let word = |not: bool| if not { " NOT" } else { "" };
    match kind {
        ExprKind::Between {
            expr,
            low,
            high,
            not,
        } => {
            operand(f, expr, level::COMPARE)?;
            write!(f, "{} BETWEEN ", word(*not))?;
            operand(f, low, level::ADD)?;
            f.write_str(" AND ")?;
            operand(f, high, level::ADD)
        }
        ExprKind::In { expr, list, not } => {
            operand(f, expr, level::COMPARE)?;
            write!(f, "{} IN ", word(*not))?;
            match list {
                InList::Items(items) => {
                    f.write_char('(')?;
                    commas(f, items, |f, e| write!(f, "{e}"))?;
                    f.write_char(')')
                }
                InList::Value(value) => operand(f, value, level::ADD),
            }
        }
        ExprKind::Like { expr, pattern, not } => {
            operand(f, expr, level::COMPARE)?;
            write!(f, "{} LIKE ", word(*not))?;
            operand(f, pattern, level::ADD)
        }
        ExprKind::IsNull { expr, not } => {
            operand(f, expr, level::COMPARE)?;
            write!(f, " IS{} NULL", word(*not))
        }
        _ => Ok(()),
    }
}

fn string(f: &mut Formatter<'_>, s: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in s.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if c.is_ascii_control() => write!(f, "\\x{:02x}", c as u32)?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

impl Display for Star {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(q) = &self.qualifier {
            write!(f, "{}.", Quoted(q))?;
        }
        f.write_char('*')?;
        if !self.except.is_empty() {
            f.write_str(" EXCEPT(")?;
            commas(f, &self.except, |f, n| write!(f, "{}", Quoted(n)))?;
            f.write_char(')')?;
        }
        if !self.replace.is_empty() {
            f.write_str(" REPLACE(")?;
            commas(f, &self.replace, |f, (e, n)| {
                write!(f, "{e} AS {}", Quoted(n))
            })?;
            f.write_char(')')?;
        }
        Ok(())
    }
}

impl Display for Case {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("CASE")?;
        if let Some(v) = &self.value {
            write!(f, " {v}")?;
        }
        for (when, then) in &self.whens {
            write!(f, " WHEN {when} THEN {then}")?;
        }
        if let Some(e) = &self.else_ {
            write!(f, " ELSE {e}")?;
        }
        f.write_str(" END")
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", Quoted(&self.original))?;
        commas(f, &self.args, |f, e| write!(f, "{e}"))?;
        f.write_char(')')?;
        match &self.over {
            Some(over) => write!(f, " {over}"),
            None => Ok(()),
        }
    }
}

impl Display for Over {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("OVER (")?;
        let mut gap = "";
        if !self.partition.is_empty() {
            f.write_str("PARTITION BY ")?;
            commas(f, &self.partition, |f, e| write!(f, "{e}"))?;
            gap = " ";
        }
        if let Some(when) = &self.when {
            write!(f, "{gap}WHEN {when}")?;
            gap = " ";
        }
        if !self.order.is_empty() {
            write!(f, "{gap}ORDER BY ")?;
            commas(f, &self.order, |f, s| write!(f, "{s}"))?;
        }
        f.write_char(')')
    }
}

impl Display for Sort {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.expr, if self.desc { " DESC" } else { "" })
    }
}

impl Display for Window {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.kind.name())?;
        commas(f, &self.args, |f, e| write!(f, "{e}"))?;
        f.write_char(')')?;
        if let Some(filter) = &self.filter {
            write!(f, " FILTER (WHERE {filter})")?;
        }
        if self.over_when.is_none() && self.over_partition.is_empty() {
            return Ok(());
        }
        f.write_str(" OVER (")?;
        let mut gap = "";
        if let Some(when) = &self.over_when {
            write!(f, "WHEN {when}")?;
            gap = " ";
        }
        if !self.over_partition.is_empty() {
            write!(f, "{gap}PARTITION BY ")?;
            commas(f, &self.over_partition, |f, e| write!(f, "{e}"))?;
        }
        f.write_char(')')
    }
}
