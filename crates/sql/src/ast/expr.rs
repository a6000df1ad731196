//! Expressions.

use super::{Name, Span};
use crate::deep::deep;

/// An expression and where it stands. Two expressions are equal when they say the same,
/// wherever they stand (spans are not compared).
///
/// A chain of operators makes a tree as deep as the chain is long (up to
/// [`crate::MAX_DEPTH`]), so code that walks it by recursion goes through [`crate::deep()`].
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    Int(i64),
    Float(f64),
    Str(ecow::EcoString),
    Bool(bool),
    TimeUnit(TimeUnit),
    /// `name` or `qualifier.name`; whether the qualifier is a stream or a column is not known
    /// here.
    Column {
        qualifier: Option<Name>,
        name: Name,
    },
    /// Stands only as a whole select item or a whole argument of a call.
    Star(Star),
    /// `(expr)`: kept since it takes away an item's name. Nested ones are kept as one.
    Paren(Box<Expr>),
    Unary {
        op: UnaryOp,
        expr: Box<Expr>,
    },
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `base->name` (arrow) or `base.name` beyond the first dot of a column.
    Member {
        base: Box<Expr>,
        name: Name,
        arrow: bool,
    },
    Index {
        base: Box<Expr>,
        index: Box<Expr>,
    },
    /// `[a:b]`; without both bounds also `[]`.
    Slice {
        base: Box<Expr>,
        from: Option<Box<Expr>>,
        to: Option<Box<Expr>>,
    },
    Between {
        expr: Box<Expr>,
        low: Box<Expr>,
        high: Box<Expr>,
        not: bool,
    },
    In {
        expr: Box<Expr>,
        list: InList,
        not: bool,
    },
    Like {
        expr: Box<Expr>,
        pattern: Box<Expr>,
        not: bool,
    },
    IsNull {
        expr: Box<Expr>,
        not: bool,
    },
    Case(Case),
    Call(Call),
    /// Stands only as a whole dimension of GROUP BY, once.
    Window(Box<Window>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Neg,
    Not,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    BitAnd,
    BitOr,
    BitXor,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Star {
    pub qualifier: Option<Name>,
    pub except: Vec<Name>,
    /// `REPLACE(expr AS name, ...)`
    pub replace: Vec<(Expr, Name)>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum InList {
    /// `IN (a, b, ...)`
    Items(Vec<Expr>),
    /// `IN column`, whose value is an array.
    Value(Box<Expr>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    pub value: Option<Box<Expr>>,
    /// WHEN and THEN, at least one pair.
    pub whens: Vec<(Expr, Expr)>,
    pub else_: Option<Box<Expr>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// In lower case: function names are not case-sensitive.
    pub name: Name,
    /// As written.
    pub original: Name,
    pub args: Vec<Expr>,
    pub over: Option<Over>,
}

/// `OVER (...)` of a call; never empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Over {
    pub partition: Vec<Expr>,
    pub when: Option<Box<Expr>>,
    pub order: Vec<Sort>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Sort {
    pub expr: Expr,
    pub desc: bool,
}

/// A window of GROUP BY. The parser has checked number and kind of the arguments: a unit and
/// positive whole numbers, or one to two conditions for a state window.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    pub kind: WindowKind,
    pub args: Vec<Expr>,
    pub filter: Option<Expr>,
    pub over_when: Option<Expr>,
    pub over_partition: Vec<Expr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WindowKind {
    Tumbling,
    Hopping,
    Sliding,
    Session,
    Count,
    State,
}

impl Expr {
    pub fn new(kind: ExprKind, span: Span) -> Self {
        Expr { kind, span }
    }

    /// The kind as an owned value ([`Drop`] forbids to move it out of the field).
    pub fn into_kind(mut self) -> ExprKind {
        self.take_kind()
    }

    fn take_kind(&mut self) -> ExprKind {
        std::mem::replace(&mut self.kind, ExprKind::Bool(false))
    }

    /// The expression inside any parentheses.
    pub fn unparen(&self) -> &Expr {
        let mut e = self;
        while let ExprKind::Paren(inner) = &e.kind {
            e = inner;
        }
        e
    }

    /// The name a select item without an alias has: a column's last name or a function's name.
    /// None where the item is to be called `kuiper_field_N`.
    pub fn natural_name(&self) -> Option<&str> {
        match &self.kind {
            ExprKind::Column { name, .. } => Some(name),
            ExprKind::Call(c) => Some(&c.name),
            _ => None,
        }
    }
}

impl ExprKind {
    /// Whether it surely holds no other expressions.
    fn is_leaf(&self) -> bool {
        matches!(
            self,
            ExprKind::Int(_)
                | ExprKind::Float(_)
                | ExprKind::Str(_)
                | ExprKind::Bool(_)
                | ExprKind::TimeUnit(_)
                | ExprKind::Column { .. }
        )
    }
}

impl TimeUnit {
    pub fn word(self) -> &'static str {
        match self {
            TimeUnit::Day => "DD",
            TimeUnit::Hour => "HH",
            TimeUnit::Minute => "MI",
            TimeUnit::Second => "SS",
            TimeUnit::Millisecond => "MS",
        }
    }

    pub fn millis(self) -> i64 {
        match self {
            TimeUnit::Day => 86_400_000,
            TimeUnit::Hour => 3_600_000,
            TimeUnit::Minute => 60_000,
            TimeUnit::Second => 1_000,
            TimeUnit::Millisecond => 1,
        }
    }
}

impl BinaryOp {
    pub fn sign(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Mod => "%",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitOr => "|",
            BinaryOp::BitXor => "^",
            BinaryOp::Eq => "=",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::And => "AND",
            BinaryOp::Or => "OR",
        }
    }

    /// How tightly it binds; all operators are left-associative.
    pub(crate) fn level(self) -> u8 {
        use crate::parse::level;
        match self {
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod | BinaryOp::BitAnd => level::MUL,
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::BitOr | BinaryOp::BitXor => level::ADD,
            BinaryOp::And => level::AND,
            BinaryOp::Or => level::OR,
            _ => level::COMPARE,
        }
    }

    pub fn is_arithmetic(self) -> bool {
        self.level() >= crate::parse::level::ADD
    }

    pub fn is_comparison(self) -> bool {
        self.level() == crate::parse::level::COMPARE
    }
}

impl WindowKind {
    const ALL: [(WindowKind, &'static str); 6] = [
        (WindowKind::Tumbling, "tumblingwindow"),
        (WindowKind::Hopping, "hoppingwindow"),
        (WindowKind::Sliding, "slidingwindow"),
        (WindowKind::Session, "sessionwindow"),
        (WindowKind::Count, "countwindow"),
        (WindowKind::State, "statewindow"),
    ];

    /// By its function-like name, in any case.
    pub fn by_name(name: &str) -> Option<WindowKind> {
        Self::ALL
            .iter()
            .find(|(_, n)| n.eq_ignore_ascii_case(name))
            .map(|(k, _)| *k)
    }

    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(k, _)| *k == self)
            .map_or("", |(_, n)| n)
    }
}

// By hand, since the derived ones recurse without making room on the stack.

impl Drop for Expr {
    fn drop(&mut self) {
        if self.kind.is_leaf() {
            return;
        }
        let kind = self.take_kind();
        deep(|| drop(kind));
    }
}

impl Clone for Expr {
    fn clone(&self) -> Self {
        deep(|| Expr {
            kind: self.kind.clone(),
            span: self.span,
        })
    }
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        deep(|| self.kind == other.kind)
    }
}

impl std::fmt::Debug for Expr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        deep(|| self.kind.fmt(f))
    }
}
