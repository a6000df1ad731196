//! Texts: case, trimming, searching, cutting.

use rekuiper_value::{Result, Value};

use super::{Args, Function, MANY, f, lists, text_value, to_text};
use crate::gofmt;

pub const FUNCTIONS: &[Function] = &[
    f("upper", 1, 1, |a| text_value(a.str(0)?.to_uppercase())),
    f("lower", 1, 1, |a| text_value(a.str(0)?.to_lowercase())),
    f("trim", 1, 1, |a| text_value(a.str(0)?.trim())),
    f("trimAll", 2, 2, |a| {
        let cut = |c: char| a.str(0).is_ok_and(|set| set.contains(c));
        text_value(a.str(1)?.trim_matches(cut))
    }),
    f("trimPrefix", 2, 2, |a| {
        let text = a.str(1)?;
        text_value(text.strip_prefix(a.str(0)?).unwrap_or(text))
    }),
    f("trimSuffix", 2, 2, |a| {
        let text = a.str(1)?;
        text_value(text.strip_suffix(a.str(0)?).unwrap_or(text))
    }),
    f("replace", 3, 3, |a| {
        let (old, new, text) = (a.str(0)?, a.str(1)?, a.str(2)?);
        a.limit(text.len().saturating_add((text.len() + 1).saturating_mul(new.len())))?;
        text_value(text.replace(old, new))
    }),
    f("contains", 2, 2, |a| Ok(Value::Bool(a.str(1)?.contains(a.str(0)?)))),
    f("hasPrefix", 2, 2, |a| Ok(Value::Bool(a.str(1)?.starts_with(a.str(0)?)))),
    f("hasSuffix", 2, 2, |a| Ok(Value::Bool(a.str(1)?.ends_with(a.str(0)?)))),
    f("splitList", 2, 2, |a| Ok(texts(split(a.str(0)?, a.str(1)?)))),
    f("split", 2, 2, |a| {
        let parts = split(a.str(0)?, a.str(1)?);
        Ok(numbered(parts))
    }),
    f("splitn", 3, 3, |a| {
        let n = usize::try_from(a.int(1)?).unwrap_or(usize::MAX);
        let parts = a.str(2)?.splitn(n, a.str(0)?).map(str::to_owned).collect();
        Ok(numbered(parts))
    }),
    f("join", 2, 2, |a| {
        let parts: Vec<String> =
            lists::any_list(&a.any(1)).iter().filter(|v| !v.is_null()).map(to_text).collect();
        text_value(parts.join(a.str(0)?))
    }),
    f("quote", 0, MANY, |a| text_value(each(a, |v| gofmt::quote(&to_text(v))))),
    f("squote", 0, MANY, |a| text_value(each(a, |v| format!("'{}'", to_text(v))))),
    f("cat", 0, MANY, |a| text_value(each(a, to_text))),
    f("repeat", 2, 2, |a| {
        let n = usize::try_from(a.int(0)?).unwrap_or(0);
        a.limit(n.saturating_mul(a.str(1)?.len()))?;
        text_value(a.str(1)?.repeat(n))
    }),
    f("substr", 3, 3, substr),
    f("trunc", 2, 2, |a| {
        let (n, text) = (a.int(0)?, a.str(1)?);
        let len = text.len() as i64;
        let cut = match n {
            n if n < 0 && len + n > 0 => text.as_bytes().get((len + n) as usize..),
            n if n >= 0 && len > n => text.as_bytes().get(..n as usize),
            _ => None,
        };
        text_value(lossy(cut.unwrap_or(text.as_bytes())))
    }),
    f("nospace", 1, 1, |a| {
        text_value(a.str(0)?.chars().filter(|c| !c.is_whitespace()).collect::<String>())
    }),
    f("indent", 2, 2, indent),
    f("nindent", 2, 2, |a| match indent(a)? {
        Value::Str(s) => text_value(format!("\n{s}")),
        other => Ok(other),
    }),
    f("toStrings", 1, 1, |a| Ok(texts(lists::any_list(&a.any(0)).iter().map(to_text).collect()))),
    f("sortAlpha", 1, 1, |a| {
        let mut all: Vec<String> = lists::any_list(&a.any(0)).iter().map(to_text).collect();
        all.sort();
        Ok(texts(all))
    }),
];

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn split(separator: &str, text: &str) -> Vec<String> {
    if separator.is_empty() {
        return text.chars().map(String::from).collect();
    }
    text.split(separator).map(str::to_owned).collect()
}

pub fn texts(parts: Vec<String>) -> Value {
    Value::array(parts.into_iter().map(Value::from).collect())
}

/// A dict with the keys _0, _1, ….
fn numbered(parts: Vec<String>) -> Value {
    let member = |(at, part): (usize, String)| (format!("_{at}").into(), Value::from(part));
    Value::object(parts.into_iter().enumerate().map(member).collect())
}

fn each(a: &Args<'_, '_>, show: impl Fn(&Value) -> String) -> String {
    let parts: Vec<String> = a.args.iter().filter(|v| !v.is_null()).map(show).collect();
    parts.join(" ")
}

fn substr(a: &mut Args<'_, '_>) -> Result<Value> {
    let (start, end, text) = (a.int(0)?, a.int(1)?, a.str(2)?);
    let len = text.len() as i64;
    let from = start.max(0);
    let to = if end < 0 || end > len || end < start { len } else { end };
    let bytes = text.as_bytes().get(from as usize..to as usize);
    match bytes {
        Some(bytes) => text_value(lossy(bytes)),
        None => Err(a.error(format!("substr {start} to {end} of a text of {len} bytes"))),
    }
}

fn indent(a: &mut Args<'_, '_>) -> Result<Value> {
    let n = usize::try_from(a.int(0)?).unwrap_or(0);
    let text = a.str(1)?;
    a.limit(n.saturating_mul(text.matches('\n').count() + 1).saturating_add(text.len()))?;
    let pad = " ".repeat(n);
    text_value(format!("{pad}{}", text.replace('\n', &format!("\n{pad}"))))
}
