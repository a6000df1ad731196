//! Options of WITH (...).

use crate::lex::{Kw, Tok, Token};
use crate::parse::Parser;
use crate::{ParseError, StreamOptions};

/// A value as written, with its place.
struct Value {
    text: String,
    token: Token,
}

impl Value {
    fn wrong<T>(&self, name: &str, expected: &str) -> Result<T, ParseError> {
        let what = format!("{name} is not {:?}", self.text);
        Err(ParseError::new(self.token.span, what, expected))
    }

    fn boolean(&self, name: &str) -> Result<Option<bool>, ParseError> {
        match self.text.to_ascii_lowercase().as_str() {
            "true" => Ok(Some(true)),
            "false" => Ok(Some(false)),
            _ => self.wrong(name, "\"true\" or \"false\""),
        }
    }

    fn one_of(&self, name: &str, words: &[&str]) -> Result<(), ParseError> {
        if words.iter().any(|w| w.eq_ignore_ascii_case(&self.text)) {
            return Ok(());
        }
        self.wrong(name, &format!("one of {}", words.join(", ")))
    }
}

/// An option's name and how its value is taken in; the list is what the user is told.
type Set = fn(&mut StreamOptions, Value) -> Result<(), ParseError>;

macro_rules! text {
    ($field:ident) => {
        |o, v| {
            o.$field = Some(v.text);
            Ok(())
        }
    };
}

const OPTIONS: &[(&str, Set)] = &[
    ("DATASOURCE", text!(datasource)),
    ("FORMAT", format),
    ("KEY", text!(key)),
    ("CONF_KEY", text!(conf_key)),
    ("SHARED", |o, v| v.boolean("SHARED").map(|b| o.shared = b)),
    ("STRICT_VALIDATION", |o, v| {
        v.boolean("STRICT_VALIDATION")
            .map(|b| o.strict_validation = b)
    }),
    ("TYPE", text!(type_)),
    ("TIMESTAMP", text!(timestamp)),
    ("TIMESTAMP_FORMAT", text!(timestamp_format)),
    ("RETAIN_SIZE", retain_size),
    ("SCHEMAID", text!(schema_id)),
    ("EXTRA", extra),
    ("VERSION", |o, v| {
        o.version = Some(v.text.to_lowercase());
        Ok(())
    }),
    ("TEMP", |o, v| v.boolean("TEMP").map(|b| o.temp = b)),
    ("KIND", kind),
    ("DELIMITER", text!(delimiter)),
];

fn format(o: &mut StreamOptions, v: Value) -> Result<(), ParseError> {
    if !v.text.is_empty() {
        v.one_of(
            "FORMAT",
            &["json", "binary", "delimited", "urlencoded", "protobuf"],
        )?;
    }
    o.format = Some(v.text);
    Ok(())
}

fn retain_size(o: &mut StreamOptions, v: Value) -> Result<(), ParseError> {
    match v.text.parse::<i64>() {
        Ok(n) if n >= 0 => o.retain_size = Some(n),
        _ => return v.wrong("RETAIN_SIZE", "a whole number from 0 on, in quotes"),
    }
    Ok(())
}

fn extra(o: &mut StreamOptions, v: Value) -> Result<(), ParseError> {
    if let Err(e) = serde_json::from_str::<serde::de::IgnoredAny>(&v.text) {
        return v.wrong("EXTRA", &format!("JSON text ({e})"));
    }
    o.extra = Some(v.text);
    Ok(())
}

fn kind(o: &mut StreamOptions, v: Value) -> Result<(), ParseError> {
    v.one_of("KIND", &["scan", "lookup"])?;
    o.kind = Some(v.text.to_lowercase());
    Ok(())
}

impl Parser<'_> {
    /// `{ name = value [,] }`; of a name given twice the last counts.
    pub(super) fn options(&mut self) -> Result<StreamOptions, ParseError> {
        let mut options = StreamOptions::default();
        while self.is_name(0) {
            let token = self.next();
            let word = token.span.of(self.text).trim_matches('`');
            let found = OPTIONS.iter().find(|(n, _)| n.eq_ignore_ascii_case(word));
            let Some((name, set)) = found else {
                let names: Vec<&str> = OPTIONS.iter().map(|(n, _)| *n).collect();
                let what = format!("there is no option `{}`", word.escape_debug());
                let expected = format!("one of {}", names.join(", "));
                return Err(ParseError::new(token.span, what, expected));
            };
            self.expect(Tok::Eq, &format!("`=` after {name}"))?;
            let value = self.option_value()?;
            set(&mut options, value)?;
            self.eat(Tok::Comma);
        }
        Ok(options)
    }

    fn option_value(&mut self) -> Result<Value, ParseError> {
        let token = self.peek();
        let text = match token.kind {
            Tok::Str if token.span.of(self.text).starts_with('"') => self.string(token)?.into(),
            Tok::Kw(Kw::True) => "true".to_string(),
            Tok::Kw(Kw::False) => "false".to_string(),
            _ => return self.unexpected("a text in double quotes, TRUE or FALSE"),
        };
        self.next();
        Ok(Value { text, token })
    }
}
