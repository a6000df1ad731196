//! Operators, by precedence climbing.
//!
//! Every step gives the expression with the depth of its tree, so that no tree gets deeper than
//! [`MAX_DEPTH`]: then whoever clones, prints or drops it is safe too.

use super::{Parser, level};
use crate::lex::{Kw, Tok};
use crate::{BinaryOp, Expr, ExprKind, InList, MAX_DEPTH, ParseError, Span, TimeUnit, UnaryOp};

/// An expression and how deep it is.
pub(crate) struct Node {
    pub expr: Expr,
    pub depth: u32,
}

pub(crate) type NodeResult = Result<Node, ParseError>;

const OPERAND: &str = "an expression";

impl Node {
    /// A node over others, the deepest of which has `below`.
    pub fn over(kind: ExprKind, span: Span, below: u32) -> NodeResult {
        if below >= MAX_DEPTH {
            let what = format!("the expression is nested or chained more than {MAX_DEPTH} times");
            return Err(ParseError::new(
                span,
                what,
                "a shorter one, or one split over aliases",
            ));
        }
        Ok(Node {
            expr: Expr::new(kind, span),
            depth: below + 1,
        })
    }
}

impl Parser<'_> {
    pub fn any_expr(&mut self) -> Result<Expr, ParseError> {
        Ok(self.node()?.expr)
    }

    pub fn node(&mut self) -> NodeResult {
        self.climb(level::OR)
    }

    /// Expressions with a comma between, and the depth of the deepest.
    pub fn nodes(
        &mut self,
        mut one: impl FnMut(&mut Self) -> NodeResult,
    ) -> Result<(Vec<Expr>, u32), ParseError> {
        let mut deepest = 0;
        let exprs = self.list(|p| {
            let n = one(p)?;
            deepest = deepest.max(n.depth);
            Ok(n.expr)
        })?;
        Ok((exprs, deepest))
    }

    /// An expression of operators that bind at least as tightly as `min`.
    fn climb(&mut self, min: u8) -> NodeResult {
        let mut left = self.prefix(min)?;
        loop {
            left = if let Some(op) = self.binary_op(min) {
                self.next();
                let right = self.climb(op.level() + 1)?;
                let span = left.expr.span.to(right.expr.span);
                let below = left.depth.max(right.depth);
                let (left, right) = (Box::new(left.expr), Box::new(right.expr));
                Node::over(ExprKind::Binary { op, left, right }, span, below)?
            } else if min <= level::COMPARE && self.at_test() {
                self.test(left)?
            } else {
                return Ok(left);
            };
        }
    }

    /// A binary operator that binds at least as tightly as `min`.
    fn binary_op(&self, min: u8) -> Option<BinaryOp> {
        let op = match self.peek().kind {
            Tok::Plus => BinaryOp::Add,
            Tok::Minus => BinaryOp::Sub,
            Tok::Star => BinaryOp::Mul,
            Tok::Slash => BinaryOp::Div,
            Tok::Percent => BinaryOp::Mod,
            Tok::Amp => BinaryOp::BitAnd,
            Tok::Pipe => BinaryOp::BitOr,
            Tok::Caret => BinaryOp::BitXor,
            Tok::Eq | Tok::EqEq => BinaryOp::Eq,
            Tok::Ne => BinaryOp::Ne,
            Tok::Lt => BinaryOp::Lt,
            Tok::Le => BinaryOp::Le,
            Tok::Gt => BinaryOp::Gt,
            Tok::Ge => BinaryOp::Ge,
            Tok::Kw(Kw::And) => BinaryOp::And,
            Tok::Kw(Kw::Or) => BinaryOp::Or,
            _ => return None,
        };
        (op.level() >= min).then_some(op)
    }

    /// Whether BETWEEN, IN, LIKE or IS follows.
    fn at_test(&self) -> bool {
        matches!(
            self.peek().kind,
            Tok::Kw(Kw::Not | Kw::Between | Kw::In | Kw::Like)
        ) || self.at_word("is")
    }

    fn test(&mut self, left: Node) -> NodeResult {
        if self.eat_word("is") {
            let not = self.eat_kw(Kw::Not);
            if !self.eat_word("null") {
                return self.unexpected("NULL");
            }
            self.no_tighter_operator("IS NULL")?;
            let span = left.expr.span.to(self.last_span());
            let expr = Box::new(left.expr);
            return Node::over(ExprKind::IsNull { expr, not }, span, left.depth);
        }
        let not = self.eat_kw(Kw::Not);
        if self.eat_kw(Kw::Between) {
            self.between(left, not)
        } else if self.eat_kw(Kw::In) {
            self.in_list(left, not)
        } else if self.eat_kw(Kw::Like) {
            let pattern = self.climb(level::ADD)?;
            let span = left.expr.span.to(pattern.expr.span);
            let below = left.depth.max(pattern.depth);
            let (expr, pattern) = (Box::new(left.expr), Box::new(pattern.expr));
            Node::over(ExprKind::Like { expr, pattern, not }, span, below)
        } else {
            self.unexpected("BETWEEN, IN or LIKE after NOT")
        }
    }

    fn between(&mut self, left: Node, not: bool) -> NodeResult {
        let low = self.climb(level::ADD)?;
        self.expect(Tok::Kw(Kw::And), "AND and the upper bound of BETWEEN")?;
        let high = self.climb(level::ADD)?;
        let span = left.expr.span.to(high.expr.span);
        let below = left.depth.max(low.depth).max(high.depth);
        let (low, high) = (Box::new(low.expr), Box::new(high.expr));
        Node::over(
            ExprKind::Between {
                expr: Box::new(left.expr),
                low,
                high,
                not,
            },
            span,
            below,
        )
    }

    fn in_list(&mut self, left: Node, not: bool) -> NodeResult {
        let (list, depth) = if self.eat(Tok::Open) {
            let (items, depth) = self.nested(|p| p.nodes(Self::node))?;
            self.expect(Tok::Close, "`,` or `)`")?;
            self.no_tighter_operator("IN (...)")?;
            (InList::Items(items), depth)
        } else {
            let value = self.climb(level::ADD)?;
            (InList::Value(Box::new(value.expr)), value.depth)
        };
        let span = left.expr.span.to(self.last_span());
        let below = left.depth.max(depth);
        Node::over(
            ExprKind::In {
                expr: Box::new(left.expr),
                list,
                not,
            },
            span,
            below,
        )
    }

    /// After a test that ends without an operand, `+` and the like would have nothing to bind to
    /// but the test as a whole, against their precedence.
    fn no_tighter_operator(&self, test: &str) -> Result<(), ParseError> {
        if self.binary_op(level::ADD).is_none() {
            return Ok(());
        }
        self.unexpected(&format!(
            "parentheses around `... {test}` to compute with its result"
        ))
    }

    /// An operand with the signs and NOTs before it.
    fn prefix(&mut self, min: u8) -> NodeResult {
        let start = self.peek();
        match (start.kind, self.ahead(1).kind) {
            (Tok::Minus, Tok::Int(n)) => {
                self.next();
                self.next();
                // 0 - n, since the smallest number has no positive counterpart.
                let value = 0i64.checked_sub_unsigned(n);
                let span = start.span.to(self.last_span());
                match value {
                    Some(v) => Node::over(ExprKind::Int(v), span, 0),
                    None => Err(too_large(span)),
                }
            }
            (Tok::Minus, Tok::Float(n)) => {
                self.next();
                self.next();
                Node::over(ExprKind::Float(-n), start.span.to(self.last_span()), 0)
            }
            (Tok::Plus, Tok::Int(_) | Tok::Float(_)) => {
                self.next();
                self.operand()
            }
            (Tok::Minus, _) => {
                self.next();
                let inner = self.nested(|p| p.climb(level::UNARY))?;
                unary(UnaryOp::Neg, start.span, inner)
            }
            (Tok::Kw(Kw::Not), _) if min <= level::NOT => {
                self.next();
                let inner = self.nested(|p| p.climb(level::NOT))?;
                unary(UnaryOp::Not, start.span, inner)
            }
            (Tok::Kw(Kw::Not), _) => {
                let what = "NOT binds looser than the operator before it";
                Err(ParseError::new(
                    start.span,
                    what,
                    "parentheses around NOT ...",
                ))
            }
            _ => self.operand(),
        }
    }

    fn operand(&mut self) -> NodeResult {
        let node = self.primary()?;
        self.accesses(node)
    }

    pub(super) fn primary(&mut self) -> NodeResult {
        let token = self.peek();
        let kind = match token.kind {
            Tok::Word | Tok::Quoted => return self.name_led(),
            Tok::Kw(Kw::Case) => return self.nested(Self::case),
            Tok::Open => return self.paren(),
            Tok::Int(n) => ExprKind::Int(i64::try_from(n).map_err(|_| too_large(token.span))?),
            Tok::Float(n) => ExprKind::Float(n),
            Tok::Str => ExprKind::Str(self.string(token)?),
            Tok::Kw(Kw::True) => ExprKind::Bool(true),
            Tok::Kw(Kw::False) => ExprKind::Bool(false),
            Tok::Kw(Kw::Dd) => ExprKind::TimeUnit(TimeUnit::Day),
            Tok::Kw(Kw::Hh) => ExprKind::TimeUnit(TimeUnit::Hour),
            Tok::Kw(Kw::Mi) => ExprKind::TimeUnit(TimeUnit::Minute),
            Tok::Kw(Kw::Ss) => ExprKind::TimeUnit(TimeUnit::Second),
            Tok::Kw(Kw::Ms) => ExprKind::TimeUnit(TimeUnit::Millisecond),
            Tok::Star => {
                let what = "`*` is no value";
                let hint = "`*` as a whole select item or as an argument such as count(*)";
                return Err(ParseError::new(token.span, what, hint));
            }
            _ => return self.unexpected_name(OPERAND),
        };
        self.next();
        Node::over(kind, token.span, 0)
    }

    fn paren(&mut self) -> NodeResult {
        let open = self.next();
        let inner = self.nested(Self::node)?;
        let close = self.expect(Tok::Close, "an operator or `)`")?;
        let span = open.span.to(close.span);
        // Parentheses in parentheses say no more than one pair.
        if let ExprKind::Paren(_) = inner.expr.kind {
            let Node { mut expr, depth } = inner;
            expr.span = span;
            return Ok(Node { expr, depth });
        }
        Node::over(ExprKind::Paren(Box::new(inner.expr)), span, inner.depth)
    }
}

fn unary(op: UnaryOp, start: Span, inner: Node) -> NodeResult {
    let span = start.to(inner.expr.span);
    Node::over(
        ExprKind::Unary {
            op,
            expr: Box::new(inner.expr),
        },
        span,
        inner.depth,
    )
}

fn too_large(span: Span) -> ParseError {
    let what = "the whole number does not fit 64 bits";
    ParseError::new(span, what, "at most 9223372036854775807")
}
