//! A compiled expression as text: for EXPLAIN, and to tell whether two expressions are the same.

use std::fmt::{Display, Formatter, Result, Write};

use rekuiper_value::{Value, text};

use crate::shape::roomy;
use crate::{BitOp, Expr, Part};

/// `expr` with the name that `name` gives to each column. Operands are in parentheses wherever
/// they are no atoms, so that the text says exactly what is run.
pub struct Show<'a> {
    pub expr: &'a Expr,
    pub name: &'a dyn Fn(u16) -> String,
}

impl<'a> Show<'a> {
    fn with(&self, expr: &'a Expr) -> Show<'a> {
        Show {
            expr,
            name: self.name,
        }
    }

    fn operand(&self, f: &mut Formatter<'_>, expr: &'a Expr) -> Result {
        match bare(expr) {
            Expr::Col(_)
            | Expr::Lit(_)
            | Expr::FirstOf(_)
            | Expr::Call { .. }
            | Expr::Array(_)
            | Expr::Member { .. }
            | Expr::Index { .. }
            | Expr::Slice { .. }
            | Expr::Case { .. }
            | Expr::Row(_) => write!(f, "{}", self.with(expr)),
            _ => write!(f, "({})", self.with(expr)),
        }
    }

    fn pair(&self, f: &mut Formatter<'_>, p: &'a (Expr, Expr), sign: &str) -> Result {
        self.operand(f, &p.0)?;
        write!(f, " {sign} ")?;
        self.operand(f, &p.1)
    }

    fn list(&self, f: &mut Formatter<'_>, items: &'a [Expr]) -> Result {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{}", self.with(item))?;
        }
        Ok(())
    }

    fn case(
        &self,
        f: &mut Formatter<'_>,
        value: Option<&'a Expr>,
        whens: &'a [(Expr, Expr)],
        otherwise: Option<&'a Expr>,
    ) -> Result {
        f.write_str("CASE")?;
        if let Some(value) = value {
            write!(f, " {}", self.with(value))?;
        }
        for (when, then) in whens {
            write!(f, " WHEN {} THEN {}", self.with(when), self.with(then))?;
        }
        if let Some(otherwise) = otherwise {
            write!(f, " ELSE {}", self.with(otherwise))?;
        }
        f.write_str(" END")
    }

    fn row(&self, f: &mut Formatter<'_>, parts: &'a [Part]) -> Result {
        f.write_str("{")?;
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            match part {
                Part::Spread(e) => write!(f, "...{}", self.with(e))?,
                Part::SpreadUnder(e) => write!(f, "...?{}", self.with(e))?,
                Part::Named(name, e) => write!(f, "{name}: {}", self.with(e))?,
                Part::NamedUnder(name, e) => write!(f, "{name}?: {}", self.with(e))?,
                Part::Without(name) => write!(f, "-{name}")?,
            }
        }
        f.write_str("}")
    }
}

fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Deep(deep) => deep.inner(),
        other => other,
    }
}

fn literal(f: &mut Formatter<'_>, value: &Value) -> Result {
    match value {
        Value::Str(s) => write!(f, "{:?}", s.as_str()),
        Value::Float(x) => write!(f, "{x:?}"),
        Value::Missing | Value::Null => f.write_str("null"),
        other => f.write_str(&text::render(other)),
    }
}

impl Display for Show<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let no = |not: &bool| if *not { " NOT" } else { "" };
        match self.expr {
            Expr::Deep(deep) => roomy(|| self.with(deep.inner()).fmt(f)),
            Expr::Col(col) => f.write_str(&(self.name)(*col)),
            Expr::FirstOf(cols) => {
                let names: Vec<String> = cols.iter().map(|c| (self.name)(*c)).collect();
                write!(f, "first({})", names.join(", "))
            }
            Expr::Lit(value) => literal(f, value),
            Expr::Neg(e) => {
                f.write_char('-')?;
                self.operand(f, e)
            }
            Expr::Not(e) => {
                f.write_str("NOT ")?;
                self.operand(f, e)
            }
            Expr::Arith(op, p) => self.pair(f, p, op.sign()),
            Expr::Bit(op, p) => self.pair(
                f,
                p,
                match op {
                    BitOp::And => "&",
                    BitOp::Or => "|",
                    BitOp::Xor => "^",
                },
            ),
            Expr::Cmp(op, p) => self.pair(f, p, op.sign()),
            Expr::And(p) => self.pair(f, p, "AND"),
            Expr::Or(p) => self.pair(f, p, "OR"),
            Expr::Between { args, not } => {
                self.operand(f, &args.0)?;
                write!(f, "{} BETWEEN ", no(not))?;
                self.operand(f, &args.1)?;
                f.write_str(" AND ")?;
                self.operand(f, &args.2)
            }
            Expr::InList { value, items, not } => {
                self.operand(f, value)?;
                write!(f, "{} IN (", no(not))?;
                self.list(f, items)?;
                f.write_char(')')
            }
            Expr::InArray { args, not } => {
                self.operand(f, &args.0)?;
                write!(f, "{} IN ", no(not))?;
                self.operand(f, &args.1)
            }
            Expr::Like {
                value,
                pattern,
                not,
            } => {
                self.operand(f, value)?;
                write!(f, "{} LIKE {:?}", no(not), pattern.text())
            }
            Expr::LikeDyn { args, not } => {
                self.operand(f, &args.0)?;
                write!(f, "{} LIKE ", no(not))?;
                self.operand(f, &args.1)
            }
            Expr::IsNull { value, not } => {
                self.operand(f, value)?;
                write!(f, " IS{} NULL", no(not))
            }
            _ => self.compound(f),
        }
    }
}

impl Show<'_> {
    /// What is neither a leaf nor an operator.
    fn compound(&self, f: &mut Formatter<'_>) -> Result {
        match self.expr {
            Expr::Case {
                value,
                whens,
                otherwise,
            } => self.case(f, value.as_deref(), whens, otherwise.as_deref()),
            Expr::Call { def, args } => {
                write!(f, "{}(", def.name)?;
                self.list(f, args)?;
                f.write_char(')')
            }
            Expr::Array(items) => {
                f.write_char('[')?;
                self.list(f, items)?;
                f.write_char(']')
            }
            Expr::Member { base, name } => {
                self.operand(f, base)?;
                write!(f, "->{name}")
            }
            Expr::Index { args } => {
                self.operand(f, &args.0)?;
                write!(f, "[{}]", self.with(&args.1))
            }
            Expr::Slice { base, from, to } => {
                self.operand(f, base)?;
                f.write_char('[')?;
                if let Some(from) = from {
                    write!(f, "{}", self.with(from))?;
                }
                f.write_char(':')?;
                if let Some(to) = to {
                    write!(f, "{}", self.with(to))?;
                }
                f.write_char(']')
            }
            Expr::Row(parts) => self.row(f, parts),
            _ => Ok(()),
        }
    }
}

/// With column numbers for names.
impl std::fmt::Debug for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let name = |col: u16| format!("${col}");
        write!(
            f,
            "{}",
            Show {
                expr: self,
                name: &name
            }
        )
    }
}
