//! SELECT.

use crate::lex::{Kw, Tok};
use crate::parse::Parser;
use crate::{ExprKind, Join, JoinKind, ParseError, Select, Source, Statement};

pub(super) fn statement(p: &mut Parser) -> Result<Statement, ParseError> {
    Ok(Statement::Select(Box::new(p.select()?)))
}

impl Parser<'_> {
    pub fn select(&mut self) -> Result<Select, ParseError> {
        self.expect_kw(Kw::Select)?;
        let items = self.list(Self::item)?;
        self.expect(Tok::Kw(Kw::From), "AS, `,` or FROM")?;
        let from = self.source()?;
        let mut joins = Vec::new();
        while let Some(join) = self.join()? {
            joins.push(join);
        }
        let where_ = if self.eat_kw(Kw::Where) {
            Some(self.any_expr()?)
        } else {
            None
        };
        let group_by = self.group_by()?;
        let having = if self.eat_kw(Kw::Having) {
            Some(self.any_expr()?)
        } else {
            None
        };
        let order_by = if self.eat_kw(Kw::Order) {
            self.expect_kw(Kw::By)?;
            self.list(|p| Ok(p.sort()?.0))?
        } else {
            Vec::new()
        };
        let limit = self.limit()?;
        self.no_late_clause()?;
        Ok(Select {
            items,
            from,
            joins,
            where_,
            group_by,
            having,
            order_by,
            limit,
        })
    }

    fn source(&mut self) -> Result<Source, ParseError> {
        let start = self.peek().span;
        let name = self.name("the name of a stream or table")?;
        if matches!(
            self.peek().kind,
            Tok::Slash | Tok::Hash | Tok::Plus | Tok::Minus
        ) {
            let hint = "letters, digits and `_` in a stream name; put others in backquotes";
            return self.unexpected(hint);
        }
        let alias = if self.eat_kw(Kw::As) {
            Some(self.name("an alias")?)
        } else {
            None
        };
        if self.is_name(0) {
            return self.unexpected("one stream name; an alias needs AS");
        }
        Ok(Source {
            name,
            alias,
            span: start.to(self.last_span()),
        })
    }

    fn join(&mut self) -> Result<Option<Join>, ParseError> {
        let kind = match self.peek().kind {
            Tok::Kw(Kw::Inner) => JoinKind::Inner,
            Tok::Kw(Kw::Left) => JoinKind::Left,
            Tok::Kw(Kw::Right) => JoinKind::Right,
            Tok::Kw(Kw::Full) => JoinKind::Full,
            Tok::Kw(Kw::Cross) => JoinKind::Cross,
            Tok::Kw(Kw::Join) => {
                return self.unexpected("INNER JOIN, LEFT JOIN, RIGHT JOIN, FULL JOIN, CROSS JOIN");
            }
            _ => return Ok(None),
        };
        self.next();
        self.expect_kw(Kw::Join)?;
        let source = self.source()?;
        if kind == JoinKind::Cross && self.at(Tok::Kw(Kw::On)) {
            let what = "a CROSS JOIN pairs every row and takes no ON";
            return Err(ParseError::new(
                self.peek().span,
                what,
                "INNER JOIN, or no ON",
            ));
        }
        let on = if self.eat_kw(Kw::On) {
            Some(self.any_expr()?)
        } else {
            None
        };
        Ok(Some(Join { kind, source, on }))
    }

    fn group_by(&mut self) -> Result<Vec<crate::Expr>, ParseError> {
        let start = self.peek().span;
        if !self.eat_kw(Kw::Group) {
            return Ok(Vec::new());
        }
        self.expect_kw(Kw::By)?;
        let dims = self.list(Self::dimension)?;
        let mut windows = dims
            .iter()
            .filter(|d| matches!(d.kind, ExprKind::Window(_)));
        if windows.next().is_none() {
            let what = "GROUP BY has no window";
            let hint = "a window beside the columns, such as tumblingwindow(ss, 10)";
            return Err(ParseError::new(start.to(self.last_span()), what, hint));
        }
        if let Some(second) = windows.next() {
            let what = "there is a second window";
            return Err(ParseError::new(second.span, what, "one window in GROUP BY"));
        }
        Ok(dims)
    }

    fn limit(&mut self) -> Result<Option<u64>, ParseError> {
        if !self.eat_kw(Kw::Limit) {
            return Ok(None);
        }
        match self.peek().kind {
            Tok::Int(n) if i64::try_from(n).is_ok() => {
                self.next();
                Ok(Some(n))
            }
            _ => self.unexpected("a whole number from 0 on"),
        }
    }

    /// A clause that comes too late gets a better message than the mere end.
    fn no_late_clause(&self) -> Result<(), ParseError> {
        match self.peek().kind {
            Tok::Kw(
                Kw::Where
                | Kw::Group
                | Kw::Having
                | Kw::Order
                | Kw::Limit
                | Kw::Inner
                | Kw::Left
                | Kw::Right
                | Kw::Full
                | Kw::Cross,
            ) => self.unexpected(
                "the clauses once each, in the order FROM, JOIN, WHERE, GROUP BY, HAVING, \
                 ORDER BY, LIMIT",
            ),
            _ => Ok(()),
        }
    }
}
