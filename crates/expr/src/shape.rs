//! The shape of a compiled expression.

use rekuiper_functions::FunctionDef;
use rekuiper_value::{Str, Value};

use crate::LikePattern;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArithOp {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitOp {
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CmpOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl CmpOp {
    /// Whether an order fits the operator.
    #[inline(always)]
    pub fn holds(self, order: std::cmp::Ordering) -> bool {
        use std::cmp::Ordering::*;
        match self {
            CmpOp::Eq => order == Equal,
            CmpOp::Ne => order != Equal,
            CmpOp::Lt => order == Less,
            CmpOp::Le => order != Greater,
            CmpOp::Gt => order == Greater,
            CmpOp::Ge => order != Less,
        }
    }

    /// The same comparison with its sides exchanged.
    pub fn flipped(self) -> Self {
        match self {
            CmpOp::Lt => CmpOp::Gt,
            CmpOp::Le => CmpOp::Ge,
            CmpOp::Gt => CmpOp::Lt,
            CmpOp::Ge => CmpOp::Le,
            same => same,
        }
    }

    pub fn sign(self) -> &'static str {
        match self {
            CmpOp::Eq => "=",
            CmpOp::Ne => "!=",
            CmpOp::Lt => "<",
            CmpOp::Le => "<=",
            CmpOp::Gt => ">",
            CmpOp::Ge => ">=",
        }
    }
}

/// See the crate's doc. Boxes are kept small so that ten thousand rules cost little.
#[derive(Clone)]
pub enum Expr {
    /// A column of the frame.
    Col(u16),
    Lit(Value),
    Neg(Box<Expr>),
    /// Three-valued: NOT of a comparison with null is null.
    Not(Box<Expr>),
    Arith(ArithOp, Box<(Expr, Expr)>),
    Bit(BitOp, Box<(Expr, Expr)>),
    Cmp(CmpOp, Box<(Expr, Expr)>),
    And(Box<(Expr, Expr)>),
    Or(Box<(Expr, Expr)>),
    /// value, low, high
    Between {
        args: Box<(Expr, Expr, Expr)>,
        not: bool,
    },
    InList {
        value: Box<Expr>,
        items: Box<[Expr]>,
        not: bool,
    },
    InArray {
        args: Box<(Expr, Expr)>,
        not: bool,
    },
    /// The pattern is a literal.
    Like {
        value: Box<Expr>,
        pattern: Box<LikePattern>,
        not: bool,
    },
    LikeDyn {
        args: Box<(Expr, Expr)>,
        not: bool,
    },
    IsNull {
        value: Box<Expr>,
        not: bool,
    },
    Case {
        value: Option<Box<Expr>>,
        whens: Box<[(Expr, Expr)]>,
        otherwise: Option<Box<Expr>>,
    },
    /// A scalar function.
    Call {
        def: &'static FunctionDef,
        args: Box<[Expr]>,
    },
    Member {
        base: Box<Expr>,
        name: Str,
    },
    Index {
        args: Box<(Expr, Expr)>,
    },
    Slice {
        base: Box<Expr>,
        from: Option<Box<Expr>>,
        to: Option<Box<Expr>>,
    },
    /// An array of the values; `Missing` becomes null.
    Array(Box<[Expr]>),
    /// An object made of parts, later ones winning: the whole row of `*`.
    Row(Box<[Part]>),
    /// The first of the columns that is not `Missing`: a name that several schemaless streams of
    /// a join may hold.
    FirstOf(Box<[u16]>),
    /// The same as what is inside, on a stack that has room for it: put around parts of a tree that
    /// is deeper than a thread's stack may bear.
    Deep(Deep),
}

/// See [`Expr::Deep`]. Cloning and dropping make room too.
pub struct Deep(Option<Box<Expr>>);

/// How many levels of a tree may stand between two [`Expr::Deep`].
pub const DEEP_EVERY: usize = 48;

/// Runs `f`, on a new piece of stack where the present one is nearly used up.
pub(crate) fn roomy<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(256 * 1024, 1024 * 1024, f)
}

impl Deep {
    pub fn new(inner: Expr) -> Self {
        Deep(Some(Box::new(inner)))
    }

    pub fn inner(&self) -> &Expr {
        static NOTHING: Expr = Expr::Lit(Value::Null);
        self.0.as_deref().unwrap_or(&NOTHING)
    }
}

impl Clone for Deep {
    fn clone(&self) -> Self {
        roomy(|| Deep(self.0.clone()))
    }
}

impl Drop for Deep {
    fn drop(&mut self) {
        let inner = self.0.take();
        roomy(|| drop(inner));
    }
}

/// A part of [`Expr::Row`].
#[derive(Clone)]
pub enum Part {
    /// All members of an object-valued column.
    Spread(Expr),
    /// One member; left out where the value is `Missing`.
    Named(Str, Expr),
    /// As `Spread`/`Named`, but never over a member that is there already.
    SpreadUnder(Expr),
    NamedUnder(Str, Expr),
    /// Takes a member away (`* EXCEPT`).
    Without(Str),
}

impl Expr {
    pub fn arith(op: ArithOp, left: Expr, right: Expr) -> Self {
        Expr::Arith(op, Box::new((left, right)))
    }

    pub fn cmp(op: CmpOp, left: Expr, right: Expr) -> Self {
        Expr::Cmp(op, Box::new((left, right)))
    }

    pub fn and(left: Expr, right: Expr) -> Self {
        Expr::And(Box::new((left, right)))
    }

    pub fn or(left: Expr, right: Expr) -> Self {
        Expr::Or(Box::new((left, right)))
    }

    /// Calls `visit` for this expression and everything below it.
    pub fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        match self {
            Expr::Col(_) | Expr::Lit(_) | Expr::FirstOf(_) => {}
            Expr::Deep(deep) => roomy(|| deep.inner().walk(visit)),
            Expr::Neg(e) | Expr::Not(e) => e.walk(visit),
            Expr::Arith(_, p) | Expr::Bit(_, p) | Expr::Cmp(_, p) | Expr::And(p) | Expr::Or(p) => {
                p.0.walk(visit);
                p.1.walk(visit);
            }
            Expr::Between { args, .. } => {
                args.0.walk(visit);
                args.1.walk(visit);
                args.2.walk(visit);
            }
            Expr::InList { value, items, .. } => {
                value.walk(visit);
                items.iter().for_each(|e| e.walk(visit));
            }
            Expr::InArray { args, .. } | Expr::LikeDyn { args, .. } | Expr::Index { args } => {
                args.0.walk(visit);
                args.1.walk(visit);
            }
            Expr::Like { value, .. } | Expr::IsNull { value, .. } => value.walk(visit),
            Expr::Case {
                value,
                whens,
                otherwise,
            } => {
                if let Some(e) = value {
                    e.walk(visit);
                }
                for (when, then) in whens.iter() {
                    when.walk(visit);
                    then.walk(visit);
                }
                if let Some(e) = otherwise {
                    e.walk(visit);
                }
            }
            Expr::Call { args, .. } | Expr::Array(args) => args.iter().for_each(|e| e.walk(visit)),
            Expr::Member { base, .. } => base.walk(visit),
            Expr::Slice { base, from, to } => {
                base.walk(visit);
                for bound in [from, to].into_iter().flatten() {
                    bound.walk(visit);
                }
            }
            Expr::Row(parts) => {
                for part in parts.iter() {
                    match part {
                        Part::Spread(e) | Part::SpreadUnder(e) => e.walk(visit),
                        Part::Named(_, e) | Part::NamedUnder(_, e) => e.walk(visit),
                        Part::Without(_) => {}
                    }
                }
            }
        }
    }

    /// Every column that is read, once for each time it is.
    pub fn each_col(&self, visit: &mut dyn FnMut(u16)) {
        self.walk(&mut |e| match e {
            Expr::Col(col) => visit(*col),
            Expr::FirstOf(cols) => cols.iter().for_each(|c| visit(*c)),
            _ => {}
        });
    }

    /// Gives every column its number anew.
    pub fn renumber(&mut self, to: &dyn Fn(u16) -> u16) {
        match self {
            Expr::Col(col) => *col = to(*col),
            Expr::FirstOf(cols) => cols.iter_mut().for_each(|c| *c = to(*c)),
            Expr::Lit(_) => {}
            Expr::Deep(deep) => {
                if let Some(inner) = &mut deep.0 {
                    roomy(|| inner.renumber(to));
                }
            }
            Expr::Neg(e) | Expr::Not(e) => e.renumber(to),
            Expr::Arith(_, p) | Expr::Bit(_, p) | Expr::Cmp(_, p) | Expr::And(p) | Expr::Or(p) => {
                p.0.renumber(to);
                p.1.renumber(to);
            }
            Expr::Between { args, .. } => {
                args.0.renumber(to);
                args.1.renumber(to);
                args.2.renumber(to);
            }
            Expr::InList { value, items, .. } => {
                value.renumber(to);
                items.iter_mut().for_each(|e| e.renumber(to));
            }
            Expr::InArray { args, .. } | Expr::LikeDyn { args, .. } | Expr::Index { args } => {
                args.0.renumber(to);
                args.1.renumber(to);
            }
            Expr::Like { value, .. } | Expr::IsNull { value, .. } => value.renumber(to),
            Expr::Case {
                value,
                whens,
                otherwise,
            } => {
                for (when, then) in whens.iter_mut() {
                    when.renumber(to);
                    then.renumber(to);
                }
                for e in [value, otherwise].into_iter().flatten() {
                    e.renumber(to);
                }
            }
            Expr::Call { args, .. } | Expr::Array(args) => {
                args.iter_mut().for_each(|e| e.renumber(to));
            }
            Expr::Member { base, .. } => base.renumber(to),
            Expr::Slice {
                base,
                from,
                to: end,
            } => {
                base.renumber(to);
                for bound in [from, end].into_iter().flatten() {
                    bound.renumber(to);
                }
            }
            Expr::Row(parts) => parts.iter_mut().for_each(|part| part.renumber(to)),
        }
    }
}

impl Part {
    pub fn renumber(&mut self, to: &dyn Fn(u16) -> u16) {
        match self {
            Part::Spread(e) | Part::SpreadUnder(e) => e.renumber(to),
            Part::Named(_, e) | Part::NamedUnder(_, e) => e.renumber(to),
            Part::Without(_) => {}
        }
    }

    /// The expression in it.
    pub fn expr(&self) -> Option<&Expr> {
        match self {
            Part::Spread(e) | Part::SpreadUnder(e) => Some(e),
            Part::Named(_, e) | Part::NamedUnder(_, e) => Some(e),
            Part::Without(_) => None,
        }
    }
}
