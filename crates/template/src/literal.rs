//! Numbers as they are written in templates, and tokens as error messages name them.

use rekuiper_value::Value;

use crate::lex::Token;

/// Go's numbers: whole ones with prefixes and underscores, and decimals.
pub fn number(text: &str) -> Option<Value> {
    let plain = text.replace('_', "");
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(rest) => (-1i128, rest),
        None => (1, plain.strip_prefix('+').unwrap_or(&plain)),
    };
    let lower = digits.to_ascii_lowercase();
    let whole = match lower.get(..2) {
        Some("0x") => i128::from_str_radix(&lower[2..], 16).ok(),
        Some("0b") => i128::from_str_radix(&lower[2..], 2).ok(),
        Some("0o") => i128::from_str_radix(&lower[2..], 8).ok(),
        _ if lower.len() > 1 && lower.starts_with('0') => i128::from_str_radix(&lower, 8).ok(),
        _ => lower.parse().ok(),
    };
    if let Some(whole) = whole {
        return i64::try_from(sign * whole).ok().map(Value::Int);
    }
    let decimal = lower.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'+' | b'-'));
    let f = lower.parse::<f64>().ok().filter(|f| decimal && f.is_finite())?;
    Some(Value::Float(if sign < 0 { -f } else { f }))
}

/// A token as error messages name it.
pub fn show(token: Option<&Token>) -> String {
    match token {
        None => "EOF".into(),
        Some(Token::Name(name)) => format!("<{name}>"),
        Some(Token::Field(name)) => format!("<.{name}>"),
        Some(Token::Var(name)) => format!("<{name}>"),
        Some(Token::Number(text)) => format!("\"{text}\""),
        Some(Token::Quoted(text)) => format!("{text:?}"),
        Some(Token::Char(c)) => format!("{c:?}"),
        Some(Token::Text(_)) => "text".into(),
        Some(Token::Open) => "\"{{\"".into(),
        Some(Token::Close) => "\"}}\"".into(),
        Some(Token::Space) => "\" \"".into(),
        Some(Token::Dot) => "<.>".into(),
        Some(Token::Pipe) => "\"|\"".into(),
        Some(Token::Comma) => "\",\"".into(),
        Some(Token::Define) => "\":=\"".into(),
        Some(Token::Assign) => "\"=\"".into(),
        Some(Token::LeftParen) => "\"(\"".into(),
        Some(Token::RightParen) => "\")\"".into(),
    }
}
