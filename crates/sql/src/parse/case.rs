//! CASE.

use super::Parser;
use super::expr::{Node, NodeResult};
use crate::lex::Kw;
use crate::{Case, Expr, ExprKind, ParseError, UnaryOp};

impl Parser<'_> {
    pub(super) fn case(&mut self) -> NodeResult {
        let start = self.expect_kw(Kw::Case)?.span;
        let mut depth = 0;
        let mut one = |p: &mut Self| -> Result<Expr, ParseError> {
            let n = p.node()?;
            depth = depth.max(n.depth);
            Ok(n.expr)
        };
        let at_when = self.at(crate::lex::Tok::Kw(Kw::When));
        let value = if at_when {
            None
        } else {
            Some(Box::new(one(self)?))
        };
        let mut whens = Vec::new();
        while self.eat_kw(Kw::When) {
            let when = one(self)?;
            if value.is_none() {
                check_condition(&when)?;
            }
            self.expect_kw(Kw::Then)?;
            whens.push((when, one(self)?));
        }
        if whens.is_empty() {
            return self.unexpected("WHEN");
        }
        let else_ = if self.eat_kw(Kw::Else) {
            Some(Box::new(one(self)?))
        } else {
            None
        };
        let what = if else_.is_some() {
            "END"
        } else {
            "WHEN, ELSE or END"
        };
        let end = self.expect(crate::lex::Tok::Kw(Kw::End), what)?;
        Node::over(
            ExprKind::Case(Case {
                value,
                whens,
                else_,
            }),
            start.to(end.span),
            depth,
        )
    }
}

/// What can never be true or false is refused after WHEN.
fn check_condition(when: &Expr) -> Result<(), ParseError> {
    let wrong = match &when.unparen().kind {
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Str(_) | ExprKind::TimeUnit(_) => true,
        ExprKind::Binary { op, .. } => op.is_arithmetic(),
        ExprKind::Unary { op, .. } => *op == UnaryOp::Neg,
        _ => false,
    };
    if wrong {
        let what = "WHEN of a CASE without a value needs a condition";
        let hint = "a comparison or another true/false expression";
        return Err(ParseError::new(when.span, what, hint));
    }
    Ok(())
}
