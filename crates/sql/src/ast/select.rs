//! The SELECT statement of a rule.

use super::{Expr, ExprKind, Name, Sort, Span, Window};

#[derive(Debug, Clone, PartialEq)]
pub struct Select {
    pub items: Vec<Item>,
    pub from: Source,
    pub joins: Vec<Join>,
    pub where_: Option<Expr>,
    /// Dimensions and at most one [`ExprKind::Window`].
    pub group_by: Vec<Expr>,
    pub having: Option<Expr>,
    pub order_by: Vec<Sort>,
    pub limit: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub expr: Expr,
    pub alias: Option<Name>,
    pub invisible: bool,
}

/// A stream or table after FROM or JOIN. Spans are not compared.
#[derive(Debug, Clone)]
pub struct Source {
    pub name: Name,
    pub alias: Option<Name>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Join {
    pub kind: JoinKind,
    pub source: Source,
    pub on: Option<Expr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JoinKind {
    Inner,
    Left,
    Right,
    Full,
    Cross,
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.alias == other.alias
    }
}

impl Select {
    /// The window of GROUP BY, with the place where it stands.
    pub fn window(&self) -> Option<(&Window, Span)> {
        self.group_by.iter().find_map(|d| match &d.kind {
            ExprKind::Window(w) => Some((w.as_ref(), d.span)),
            _ => None,
        })
    }

    /// GROUP BY without the window.
    pub fn dimensions(&self) -> impl Iterator<Item = &Expr> {
        self.group_by
            .iter()
            .filter(|d| !matches!(d.kind, ExprKind::Window(_)))
    }

    /// All streams and tables it reads, FROM first.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        std::iter::once(&self.from).chain(self.joins.iter().map(|j| &j.source))
    }
}

impl JoinKind {
    pub fn word(self) -> &'static str {
        match self {
            JoinKind::Inner => "INNER",
            JoinKind::Left => "LEFT",
            JoinKind::Right => "RIGHT",
            JoinKind::Full => "FULL",
            JoinKind::Cross => "CROSS",
        }
    }
}
