//! `meta(...)` and `mqtt(...)`: their argument is no column but a key of the message's metadata.

use rekuiper_expr::Expr;
use rekuiper_sql::{self as sql, Call, ExprKind, Span};
use rekuiper_value::{Field, Str};

use crate::compile::{Planner, refuse};
use crate::error::{PlanError, Result};

impl Planner<'_> {
    pub(super) fn meta(&mut self, call: &Call, span: Span) -> Result<Expr> {
        let Some(arg) = call.args.first() else {
            return refuse(span, "meta needs a key");
        };
        if call.name == "mqtt" {
            let key = match &arg.kind {
                ExprKind::Column { name, .. } => name.as_str(),
                _ => "",
            };
            if !matches!(key, "topic" | "messageid") {
                return Err(PlanError::at(arg.span, "mqtt knows no such key")
                    .expected("topic or messageid"));
            }
        }
        self.meta_key(arg)
    }

    fn meta_key(&mut self, arg: &sql::Expr) -> Result<Expr> {
        match &arg.kind {
            ExprKind::Column {
                qualifier: None,
                name,
            } => self.meta_of(0, name),
            ExprKind::Column {
                qualifier: Some(first),
                name,
            } => match self.scope.source_named(first) {
                Some(source) => self.meta_of(source, name),
                None => {
                    let base = Box::new(self.meta_of(0, first)?);
                    Ok(Expr::Member {
                        base,
                        name: name.clone(),
                    })
                }
            },
            ExprKind::Star(star) if star.except.is_empty() && star.replace.is_empty() => {
                let source = match &star.qualifier {
                    Some(name) => self.scope.source_named(name).ok_or_else(|| {
                        PlanError::at(arg.span, format!("there is no stream named {name} here"))
                    })?,
                    None => 0,
                };
                Ok(Expr::Col(self.scope.field(source, Field::MetaWhole)?))
            }
            ExprKind::Member { base, name, .. } => {
                let base = sql::deep(|| self.meta_key(base))?;
                Ok(Expr::Member {
                    base: Box::new(base),
                    name: name.clone(),
                })
            }
            _ => Err(PlanError::at(arg.span, "this is no key of metadata")
                .expected("meta(key), meta(stream.key), meta(key->member) or meta(*)")),
        }
    }

    fn meta_of(&mut self, source: usize, key: &Str) -> Result<Expr> {
        Ok(Expr::Col(
            self.scope.field(source, Field::Meta(key.clone()))?,
        ))
    }
}
