//! Everything but calls.

use rekuiper_expr::{ArithOp, BitOp, CmpOp, Expr, LikePattern};
use rekuiper_sql::{self as sql, BinaryOp, ExprKind, InList, Name, Span, UnaryOp};
use rekuiper_value::Value;

use crate::compile::{Place, Planner, refuse};
use crate::error::{PlanError, Result};

impl Planner<'_> {
    pub(super) fn node(&mut self, e: &sql::Expr, place: Place) -> Result<Expr> {
        match &e.kind {
            ExprKind::Int(i) => Ok(Expr::Lit(Value::Int(*i))),
            ExprKind::Float(f) => Ok(Expr::Lit(Value::Float(*f))),
            ExprKind::Str(s) => Ok(Expr::Lit(Value::Str(s.clone()))),
            ExprKind::Bool(b) => Ok(Expr::Lit(Value::Bool(*b))),
            // a time unit says something to functions alone, and they look at it while planning
            ExprKind::TimeUnit(_) => Ok(Expr::Lit(Value::Null)),
            ExprKind::Column { qualifier, name } => {
                self.column(qualifier.as_ref(), name, e.span, place)
            }
            ExprKind::Star(_) => Err(PlanError::at(e.span, "* cannot be part of an expression")
                .expected("a column, or * as a whole item of the select list")),
            ExprKind::Paren(inner) => self.compile(inner, place),
            ExprKind::Unary {
                op: UnaryOp::Neg,
                expr,
            } => Ok(Expr::Neg(Box::new(self.compile(expr, place)?))),
            ExprKind::Unary {
                op: UnaryOp::Not,
                expr,
            } => Ok(Expr::Not(Box::new(self.compile(expr, place)?))),
            ExprKind::Binary { op, left, right } => {
                let pair = Box::new((self.compile(left, place)?, self.compile(right, place)?));
                Ok(binary(*op, pair))
            }
            ExprKind::Member { base, name, .. } => Ok(Expr::Member {
                base: Box::new(self.compile(base, place)?),
                name: name.clone(),
            }),
            ExprKind::Index { base, index } => Ok(Expr::Index {
                args: Box::new((self.compile(base, place)?, self.compile(index, place)?)),
            }),
            ExprKind::Slice { base, from, to } => {
                self.slice(base, from.as_deref(), to.as_deref(), e.span, place)
            }
            ExprKind::Between {
                expr,
                low,
                high,
                not,
            } => {
                let args = (
                    self.compile(expr, place)?,
                    self.compile(low, place)?,
                    self.compile(high, place)?,
                );
                Ok(Expr::Between {
                    args: Box::new(args),
                    not: *not,
                })
            }
            ExprKind::In { expr, list, not } => self.within(expr, list, *not, place),
            ExprKind::Like { expr, pattern, not } => self.like(expr, pattern, *not, place),
            ExprKind::IsNull { expr, not } => Ok(Expr::IsNull {
                value: Box::new(self.compile(expr, place)?),
                not: *not,
            }),
            ExprKind::Case(case) => self.case(case, place),
            ExprKind::Call(call) => self.call(call, e.span, place),
            ExprKind::Window(w) => Err(PlanError::at(
                e.span,
                format!("{} cannot stand in {}", w.kind.name(), place.words()),
            )
            .expected("one window, as a whole item of GROUP BY")),
        }
    }

    /// `name`, or `qualifier.name`: a stream's column, an alias, or a member of either.
    fn column(
        &mut self,
        qualifier: Option<&Name>,
        name: &Name,
        span: Span,
        place: Place,
    ) -> Result<Expr> {
        if name.is_empty() {
            return refuse(span, "a column cannot have an empty name");
        }
        let Some(first) = qualifier else {
            return self.bare(name, span, place);
        };
        if let Some(source) = self.scope.source_named(first) {
            return self.scope.qualified(source, name, span);
        }
        let known = self.alias_of(first).is_some() || self.scope.declares(first);
        if !known && (place == Place::On || self.scope.all_typed()) {
            let names: Vec<&str> = self
                .scope
                .sources
                .iter()
                .map(|s| s.shown().as_str())
                .collect();
            return Err(
                PlanError::at(span, format!("there is no stream or column {first} here"))
                    .expected(format!("a column of {}", names.join(" or "))),
            );
        }
        let base = self.bare(first, span, place)?;
        Ok(Expr::Member {
            base: Box::new(base),
            name: name.clone(),
        })
    }

    fn bare(&mut self, name: &Name, span: Span, place: Place) -> Result<Expr> {
        match self.alias_of(name) {
            // within an aggregate an alias of an aggregate cannot be meant where a column can
            Some(at) if matches!(place, Place::Inside(_)) && self.scope.declares(name) => {
                let whole = &self.select.items[at].expr;
                if self.holds_aggregate(whole) {
                    return self.scope.unqualified(name, span);
                }
                self.alias(at, span, place)
            }
            Some(at) => self.alias(at, span, place),
            None => self.scope.unqualified(name, span),
        }
    }

    fn slice(
        &mut self,
        base: &sql::Expr,
        from: Option<&sql::Expr>,
        to: Option<&sql::Expr>,
        span: Span,
        place: Place,
    ) -> Result<Expr> {
        if let (Some(ExprKind::Int(a)), Some(ExprKind::Int(b))) =
            (from.map(|e| &e.kind), to.map(|e| &e.kind))
            && (0..=*a).contains(b)
        {
            return Err(PlanError::at(span, format!("the slice [{a}:{b}] is empty"))
                .expected("an end after the start"));
        }
        let base = Box::new(self.compile(base, place)?);
        let mut bound = |e: Option<&sql::Expr>| -> Result<Option<Box<Expr>>> {
            e.map(|e| self.compile(e, place).map(Box::new)).transpose()
        };
        Ok(Expr::Slice {
            base,
            from: bound(from)?,
            to: bound(to)?,
        })
    }

    fn within(&mut self, e: &sql::Expr, list: &InList, not: bool, place: Place) -> Result<Expr> {
        let value = self.compile(e, place)?;
        match list {
            InList::Items(items) => {
                let items = items
                    .iter()
                    .map(|i| self.compile(i, place))
                    .collect::<Result<_>>()?;
                Ok(Expr::InList {
                    value: Box::new(value),
                    items,
                    not,
                })
            }
            InList::Value(array) => {
                let array = self.compile(array, place)?;
                Ok(Expr::InArray {
                    args: Box::new((value, array)),
                    not,
                })
            }
        }
    }

    fn like(
        &mut self,
        e: &sql::Expr,
        pattern: &sql::Expr,
        not: bool,
        place: Place,
    ) -> Result<Expr> {
        let value = self.compile(e, place)?;
        Ok(match self.compile(pattern, place)? {
            Expr::Lit(Value::Str(text)) => Expr::Like {
                value: Box::new(value),
                pattern: Box::new(LikePattern::new(&text)),
                not,
            },
            other => Expr::LikeDyn {
                args: Box::new((value, other)),
                not,
            },
        })
    }

    /// A WHEN without a value before it must be a condition, as far as can be told.
    fn check_when(&self, when: &sql::Expr) -> Result<()> {
        let what = match &when.kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Str(_) => "a literal".to_owned(),
            ExprKind::TimeUnit(_) => "a time unit".to_owned(),
            ExprKind::Binary { op, .. } if op.is_arithmetic() => "a calculation".to_owned(),
            ExprKind::Column { qualifier, name } => {
                let alias = qualifier.is_none() && self.alias_of(name).is_some();
                if alias || self.scope.is_boolean(name) {
                    return Ok(());
                }
                format!("column {name}, of which it is not known that it is BOOLEAN,")
            }
            _ => return Ok(()),
        };
        Err(
            PlanError::at(when.span, format!("{what} is no condition for WHEN"))
                .expected("a comparison, such as column = true"),
        )
    }

    fn case(&mut self, case: &sql::Case, place: Place) -> Result<Expr> {
        let mut part = |e: Option<&sql::Expr>| -> Result<Option<Box<Expr>>> {
            e.map(|e| self.compile(e, place).map(Box::new)).transpose()
        };
        let value = part(case.value.as_deref())?;
        let otherwise = part(case.else_.as_deref())?;
        let mut whens = Vec::with_capacity(case.whens.len());
        for (when, then) in &case.whens {
            if case.value.is_none() {
                self.check_when(when)?;
            }
            whens.push((self.compile(when, place)?, self.compile(then, place)?));
        }
        Ok(Expr::Case {
            value,
            whens: whens.into(),
            otherwise,
        })
    }
}

fn binary(op: BinaryOp, pair: Box<(Expr, Expr)>) -> Expr {
    match op {
        BinaryOp::Add => Expr::Arith(ArithOp::Add, pair),
        BinaryOp::Sub => Expr::Arith(ArithOp::Sub, pair),
        BinaryOp::Mul => Expr::Arith(ArithOp::Mul, pair),
        BinaryOp::Div => Expr::Arith(ArithOp::Div, pair),
        BinaryOp::Mod => Expr::Arith(ArithOp::Mod, pair),
        BinaryOp::BitAnd => Expr::Bit(BitOp::And, pair),
        BinaryOp::BitOr => Expr::Bit(BitOp::Or, pair),
        BinaryOp::BitXor => Expr::Bit(BitOp::Xor, pair),
        BinaryOp::Eq => Expr::Cmp(CmpOp::Eq, pair),
        BinaryOp::Ne => Expr::Cmp(CmpOp::Ne, pair),
        BinaryOp::Lt => Expr::Cmp(CmpOp::Lt, pair),
        BinaryOp::Le => Expr::Cmp(CmpOp::Le, pair),
        BinaryOp::Gt => Expr::Cmp(CmpOp::Gt, pair),
        BinaryOp::Ge => Expr::Cmp(CmpOp::Ge, pair),
        BinaryOp::And => Expr::And(pair),
        BinaryOp::Or => Expr::Or(pair),
    }
}
