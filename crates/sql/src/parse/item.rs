//! Select items, stars and sort fields.

use super::Parser;
use super::expr::{Node, NodeResult};
use crate::lex::{Kw, Tok};
use crate::{Expr, ExprKind, Item, ParseError, Sort, Star};

impl Parser<'_> {
    /// `expr [AS name] [INVISIBLE]` or a star.
    pub fn item(&mut self) -> Result<Item, ParseError> {
        if let Some(star) = self.star()? {
            if self.at(Tok::Kw(Kw::As)) {
                let what = "`*` stands for many columns and takes no alias";
                return Err(ParseError::new(self.peek().span, what, "`,` or FROM"));
            }
            return Ok(Item {
                expr: star.expr,
                alias: None,
                invisible: false,
            });
        }
        let expr = self.any_expr()?;
        if self.at(Tok::Kw(Kw::Except)) {
            let what = "EXCEPT goes with `*` only";
            return Err(ParseError::new(self.peek().span, what, "AS, `,` or FROM"));
        }
        let alias = if self.eat_kw(Kw::As) {
            Some(self.name("an alias")?)
        } else {
            None
        };
        let invisible = self.eat_kw(Kw::Invisible);
        Ok(Item {
            expr,
            alias,
            invisible,
        })
    }

    /// `*`, `stream.*`, either with EXCEPT and REPLACE; None where no star stands.
    pub(super) fn star(&mut self) -> Result<Option<Node>, ParseError> {
        let start = self.peek().span;
        let mut star = Star::default();
        if self.is_name(0) && self.ahead(1).kind == Tok::Dot && self.ahead(2).kind == Tok::Star {
            star.qualifier = Some(self.name("a stream")?);
            self.next();
        } else if !self.at(Tok::Star) {
            return Ok(None);
        }
        self.next();
        let mut depth = 0;
        loop {
            if self.eat_kw(Kw::Except) {
                self.expect(Tok::Open, "`(` after EXCEPT")?;
                // eKuiper takes an empty list, which leaves out nothing.
                if !self.at(Tok::Close) {
                    star.except.extend(self.list(|p| p.name("a column"))?);
                }
            } else if self.eat_kw(Kw::Replace) {
                self.expect(Tok::Open, "`(` after REPLACE")?;
                let more = self.nested(|p| p.list(|p| p.replacement(&mut depth)))?;
                star.replace.extend(more);
            } else {
                break;
            }
            self.expect(Tok::Close, "`,` or `)`")?;
        }
        if !self.star_may_end() {
            let what = "`*` is no value to compute with";
            let hint = "`,` or FROM after the star";
            return Err(ParseError::new(self.peek().span, what, hint));
        }
        Node::over(ExprKind::Star(star), start.to(self.last_span()), depth).map(Some)
    }

    fn star_may_end(&self) -> bool {
        !matches!(
            self.peek().kind,
            Tok::Plus
                | Tok::Minus
                | Tok::Star
                | Tok::Slash
                | Tok::Percent
                | Tok::Amp
                | Tok::Pipe
                | Tok::Caret
                | Tok::Eq
                | Tok::EqEq
                | Tok::Ne
                | Tok::Lt
                | Tok::Le
                | Tok::Gt
                | Tok::Ge
                | Tok::Arrow
                | Tok::Dot
                | Tok::OpenBracket
        )
    }

    fn replacement(&mut self, depth: &mut u32) -> Result<(Expr, crate::Name), ParseError> {
        let node = self.node()?;
        *depth = (*depth).max(node.depth);
        self.expect(Tok::Kw(Kw::As), "AS and the column to replace")?;
        Ok((node.expr, self.name("the column to replace")?))
    }

    /// One field of ORDER BY, and its depth.
    pub fn sort(&mut self) -> Result<(Sort, u32), ParseError> {
        let node = self.sort_expr()?;
        let desc = self.eat_kw(Kw::Desc);
        if !desc {
            self.eat_kw(Kw::Asc);
        }
        Ok((
            Sort {
                expr: node.expr,
                desc,
            },
            node.depth,
        ))
    }

    fn sort_expr(&mut self) -> NodeResult {
        // ORDER BY 1 means the first column elsewhere; here it would be a constant.
        let mut first = 0;
        while matches!(self.ahead(first).kind, Tok::Minus | Tok::Plus) {
            first += 1;
        }
        match self.ahead(first).kind {
            Tok::Int(_) | Tok::Float(_) | Tok::Str | Tok::Kw(Kw::True | Kw::False) => {
                self.unexpected("a column or function to sort by")
            }
            _ => self.node(),
        }
    }
}
