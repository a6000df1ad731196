//! Fields and their types.

use std::collections::HashSet;

use crate::lex::{Kw, Tok};
use crate::parse::Parser;
use crate::{Field, FieldType, ParseError};

const TYPES: &str = "BIGINT, FLOAT, STRING, DATETIME, BOOLEAN, BYTEA, ARRAY(type) or \
                     STRUCT(field, ...)";

impl Parser<'_> {
    /// One or more fields up to the closing parenthesis; a comma may stand last.
    pub(super) fn fields(&mut self) -> Result<Vec<Field>, ParseError> {
        let mut fields: Vec<Field> = Vec::new();
        let mut seen = HashSet::new();
        loop {
            let at = self.peek().span;
            let field = self.field()?;
            if !seen.insert(field.name.clone()) {
                let what = format!("there are two fields `{}`", field.name);
                return Err(ParseError::new(
                    at,
                    what,
                    "a name of its own for each field",
                ));
            }
            fields.push(field);
            if !self.eat(Tok::Comma) || self.at(Tok::Close) {
                return Ok(fields);
            }
        }
    }

    fn field(&mut self) -> Result<Field, ParseError> {
        let name = self.name("the name of a field")?;
        let typ = self.field_type()?;
        let default = if self.eat_kw(Kw::Default) {
            Some(self.default_of(&typ)?)
        } else {
            None
        };
        Ok(Field { name, typ, default })
    }

    fn field_type(&mut self) -> Result<FieldType, ParseError> {
        let token = self.peek();
        if !self.is_name(0) {
            return self.unexpected(TYPES);
        }
        let word = token
            .span
            .of(self.text)
            .trim_matches('`')
            .to_ascii_lowercase();
        let typ = match word.as_str() {
            "bigint" => FieldType::Bigint,
            "float" => FieldType::Float,
            "string" => FieldType::String,
            "datetime" => FieldType::Datetime,
            "boolean" => FieldType::Boolean,
            "bytea" => FieldType::Bytea,
            "array" | "struct" => {
                self.next();
                self.expect(Tok::Open, "`(` and what it holds")?;
                let typ = if word == "array" {
                    FieldType::Array(Box::new(self.nested(Self::field_type)?))
                } else {
                    FieldType::Struct(self.nested(Self::fields)?)
                };
                self.expect(Tok::Close, "`)`")?;
                return Ok(typ);
            }
            _ => {
                let what = format!("`{}` is no type", word.escape_debug());
                return Err(ParseError::new(token.span, what, TYPES));
            }
        };
        self.next();
        Ok(typ)
    }
}
