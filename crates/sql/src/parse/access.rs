//! What begins with a name (columns, calls), and what follows an operand (`->x`, `.x`, `[i]`).

use super::Parser;
use super::expr::{Node, NodeResult};
use crate::lex::{Kw, Tok};
use crate::{Call, Expr, ExprKind, Name, Over, ParseError, Span, WindowKind};

impl Parser<'_> {
    /// A column or a call.
    pub(super) fn name_led(&mut self) -> NodeResult {
        let start = self.peek().span;
        let name = self.name("a column or function")?;
        if self.at(Tok::Open) {
            if let Some(kind) = WindowKind::by_name(&name) {
                let what = format!("{} cannot stand here", kind.name());
                let hint = "a window once, as a whole dimension of GROUP BY";
                return Err(ParseError::new(start, what, hint));
            }
            return self.call(start, name);
        }
        if !self.at(Tok::Dot) {
            return Node::over(
                ExprKind::Column {
                    qualifier: None,
                    name,
                },
                start,
                0,
            );
        }
        self.next();
        let member = self.member_name()?;
        let span = start.to(self.last_span());
        Node::over(
            ExprKind::Column {
                qualifier: Some(name),
                name: member,
            },
            span,
            0,
        )
    }

    fn member_name(&mut self) -> Result<Name, ParseError> {
        if self.at(Tok::Star) {
            let what = "`.*` cannot stand here";
            let hint = "`stream.*` as a whole select item";
            return Err(ParseError::new(self.peek().span, what, hint));
        }
        self.name("the name of a member")
    }

    fn call(&mut self, start: Span, original: Name) -> NodeResult {
        self.next();
        let (args, mut depth) = if self.at(Tok::Close) {
            (Vec::new(), 0)
        } else {
            self.nested(|p| p.nodes(Self::argument))?
        };
        self.expect(Tok::Close, "`,` or `)`")?;
        let over = if self.eat_kw(Kw::Over) {
            let (over, d) = self.nested(Self::over)?;
            depth = depth.max(d);
            Some(over)
        } else {
            None
        };
        let span = start.to(self.last_span());
        let call = Call {
            name: original.to_lowercase(),
            original,
            args,
            over,
        };
        Node::over(ExprKind::Call(call), span, depth)
    }

    fn argument(&mut self) -> NodeResult {
        match self.star()? {
            Some(star) => Ok(star),
            None => self.node(),
        }
    }

    /// `( [PARTITION BY ...] [WHEN expr | ORDER BY ...] )`
    fn over(&mut self) -> Result<(Over, u32), ParseError> {
        self.expect(Tok::Open, "`(` after OVER")?;
        let mut over = Over::default();
        let mut depth = 0;
        if self.eat_kw(Kw::Partition) {
            self.expect_kw(Kw::By)?;
            (over.partition, depth) = self.nodes(Self::node)?;
        }
        if self.eat_kw(Kw::When) {
            let when = self.node()?;
            depth = depth.max(when.depth);
            over.when = Some(Box::new(when.expr));
        } else if self.eat_kw(Kw::Order) {
            self.expect_kw(Kw::By)?;
            over.order = self.list(|p| {
                let (sort, d) = p.sort()?;
                depth = depth.max(d);
                Ok(sort)
            })?;
        } else if over.partition.is_empty() {
            return self.unexpected("PARTITION BY, WHEN or ORDER BY");
        }
        self.expect(
            Tok::Close,
            "`)`; the order is PARTITION BY, then WHEN or ORDER BY",
        )?;
        Ok((over, depth))
    }

    /// The accesses that follow an operand; they bind tightest.
    pub(super) fn accesses(&mut self, mut node: Node) -> NodeResult {
        loop {
            let arrow = match self.peek().kind {
                Tok::Arrow => true,
                Tok::Dot => false,
                Tok::OpenBracket => {
                    node = self.bracket(node)?;
                    continue;
                }
                _ => return Ok(node),
            };
            self.next();
            if let (true, Tok::Int(_)) = (arrow, self.peek().kind) {
                node = self.arrow_number(node)?;
                continue;
            }
            let name = self.member_name()?;
            let span = node.expr.span.to(self.last_span());
            let base = Box::new(node.expr);
            node = Node::over(ExprKind::Member { base, name, arrow }, span, node.depth)?;
        }
    }

    /// `->1`: no member can be called so; it is taken as an index, as eKuiper does.
    fn arrow_number(&mut self, base: Node) -> NodeResult {
        let index = self.primary()?;
        let span = base.expr.span.to(index.expr.span);
        let (base, index, depth) = (Box::new(base.expr), Box::new(index.expr), base.depth);
        Node::over(ExprKind::Index { base, index }, span, depth)
    }

    /// `[i]`, `[a:b]` with either bound left out, `[]`
    fn bracket(&mut self, base: Node) -> NodeResult {
        self.next();
        let mut depth = base.depth;
        let mut part = |p: &mut Self| -> Result<Option<Box<Expr>>, ParseError> {
            if matches!(p.peek().kind, Tok::Colon | Tok::CloseBracket) {
                return Ok(None);
            }
            let n = p.nested(Self::node)?;
            depth = depth.max(n.depth);
            Ok(Some(Box::new(n.expr)))
        };
        let from = part(self)?;
        let colon = self.eat(Tok::Colon);
        let to = if colon { part(self)? } else { None };
        let close = self.expect(Tok::CloseBracket, "`]`")?;
        let span = base.expr.span.to(close.span);
        let base = Box::new(base.expr);
        let kind = match from {
            Some(index) if !colon => ExprKind::Index { base, index },
            from => {
                check_bounds(from.as_deref(), to.as_deref())?;
                ExprKind::Slice { base, from, to }
            }
        };
        Node::over(kind, span, depth)
    }
}

/// Literal bounds that can hold nothing are a mistake.
fn check_bounds(from: Option<&Expr>, to: Option<&Expr>) -> Result<(), ParseError> {
    let (Some(from), Some(to)) = (from, to) else {
        return Ok(());
    };
    if let (ExprKind::Int(a), ExprKind::Int(b)) = (&from.kind, &to.kind)
        && (0..=*a).contains(b)
    {
        let what = format!("the slice [{a}:{b}] is always empty");
        let hint = "an end after the start; the end itself is not included";
        return Err(ParseError::new(from.span.to(to.span), what, hint));
    }
    Ok(())
}
