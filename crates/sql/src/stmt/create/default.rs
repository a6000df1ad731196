//! DEFAULT of a field: a literal, converted to the field's type.

use crate::lex::{Kw, Tok};
use crate::parse::Parser;
use crate::{FieldDefault, FieldType, ParseError};

/// What stands after DEFAULT.
enum Literal {
    Int(i64),
    Float(f64),
    Text(String),
    Bool(bool),
}

impl Parser<'_> {
    pub(super) fn default_of(&mut self, typ: &FieldType) -> Result<FieldDefault, ParseError> {
        let start = self.peek().span;
        let literal = self.default_literal()?;
        let span = start.to(self.last_span());
        let wrong = || {
            let what = format!("the default does not fit the type {}", typ.word());
            ParseError::new(span, what, format!("a literal that is a {}", typ.word()))
        };
        match typ {
            FieldType::Bigint => bigint(literal).map(FieldDefault::Bigint).ok_or_else(wrong),
            FieldType::Float => float(literal).map(FieldDefault::Float).ok_or_else(wrong),
            FieldType::String => Ok(FieldDefault::String(text(literal))),
            FieldType::Boolean => boolean(literal)
                .map(FieldDefault::Boolean)
                .ok_or_else(wrong),
            _ => {
                let what = format!("a {} field takes no default", typ.word());
                let hint = "DEFAULT on BIGINT, FLOAT, STRING and BOOLEAN fields only";
                Err(ParseError::new(span, what, hint))
            }
        }
    }

    fn default_literal(&mut self) -> Result<Literal, ParseError> {
        let minus = self.eat(Tok::Minus);
        let token = self.peek();
        let literal = match token.kind {
            Tok::Int(n) => {
                let value = if minus {
                    0i64.checked_sub_unsigned(n)
                } else {
                    i64::try_from(n).ok()
                };
                match value {
                    Some(v) => Literal::Int(v),
                    None => return self.unexpected("a number that fits 64 bits"),
                }
            }
            Tok::Float(n) => Literal::Float(if minus { -n } else { n }),
            _ if minus => return self.unexpected("a number"),
            Tok::Str => Literal::Text(self.string(token)?.into()),
            Tok::Kw(Kw::True) => Literal::Bool(true),
            Tok::Kw(Kw::False) => Literal::Bool(false),
            _ => return self.unexpected("a number, a string, TRUE or FALSE"),
        };
        self.next();
        Ok(literal)
    }
}

fn bigint(literal: Literal) -> Option<i64> {
    match literal {
        Literal::Int(n) => Some(n),
        Literal::Text(t) => t.parse().ok(),
        Literal::Float(_) | Literal::Bool(_) => None,
    }
}

fn float(literal: Literal) -> Option<f64> {
    match literal {
        // The field is a float, so a whole number is meant as one.
        Literal::Int(n) => Some(n as f64),
        Literal::Float(n) => Some(n),
        Literal::Text(t) => t.parse().ok().filter(|n: &f64| n.is_finite()),
        Literal::Bool(_) => None,
    }
}

fn boolean(literal: Literal) -> Option<bool> {
    match literal {
        Literal::Bool(b) => Some(b),
        Literal::Int(n) => Some(n != 0),
        Literal::Text(t) => match t.as_str() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
            _ => None,
        },
        Literal::Float(_) => None,
    }
}

fn text(literal: Literal) -> String {
    match literal {
        Literal::Int(n) => n.to_string(),
        Literal::Float(n) => n.to_string(),
        Literal::Text(t) => t,
        Literal::Bool(b) => b.to_string(),
    }
}
