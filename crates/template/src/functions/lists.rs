//! Lists.

use rekuiper_value::{Result, Value};

use super::{Args, Function, MANY, f};
use crate::exec::{owned, truth};

pub const FUNCTIONS: &[Function] = &[
    f("list", 0, MANY, |a| Ok(Value::array(std::mem::take(&mut a.args)))),
    f("tuple", 0, MANY, |a| Ok(Value::array(std::mem::take(&mut a.args)))),
    f("first", 1, 1, |a| Ok(a.list(0)?.first().cloned().unwrap_or(Value::Null))),
    f("last", 1, 1, |a| Ok(a.list(0)?.last().cloned().unwrap_or(Value::Null))),
    f("rest", 1, 1, |a| Ok(Value::array(a.list(0)?.get(1..).unwrap_or(&[]).to_vec()))),
    f("initial", 1, 1, |a| {
        let all = a.list(0)?;
        Ok(Value::array(all[..all.len().saturating_sub(1)].to_vec()))
    }),
    f("append", 2, 2, push),
    f("push", 2, 2, push),
    f("prepend", 2, 2, |a| {
        let mut all = vec![a.any(1)];
        all.extend(a.list(0)?.iter().cloned());
        Ok(Value::array(all))
    }),
    f("concat", 0, MANY, |a| {
        let mut all = Vec::new();
        for at in 0..a.len() {
            all.extend(a.list(at)?.iter().cloned());
        }
        Ok(Value::array(all))
    }),
    f("reverse", 1, 1, |a| Ok(Value::array(a.list(0)?.iter().rev().cloned().collect()))),
    f("uniq", 1, 1, |a| {
        let mut all: Vec<Value> = Vec::new();
        for item in a.list(0)?.iter() {
            if !all.contains(item) {
                all.push(item.clone());
            }
        }
        Ok(Value::array(all))
    }),
    f("without", 1, MANY, |a| {
        let gone = &a.args[1..];
        let kept = a.list(0)?.iter().filter(|v| !gone.contains(v)).cloned().collect();
        Ok(Value::array(kept))
    }),
    f("has", 2, 2, |a| match a.any(1) {
        Value::Missing | Value::Null => Ok(Value::Bool(false)),
        _ => Ok(Value::Bool(a.list(1)?.contains(&a.any(0)))),
    }),
    f("compact", 1, 1, |a| {
        Ok(Value::array(a.list(0)?.iter().filter(|v| truth(v)).cloned().collect()))
    }),
    f("chunk", 2, 2, |a| {
        let size = usize::try_from(a.int(0)?).unwrap_or(0).max(1);
        let all = a.list(1)?;
        Ok(Value::array(all.chunks(size).map(|part| Value::array(part.to_vec())).collect()))
    }),
];

fn push(a: &mut Args<'_, '_>) -> Result<Value> {
    let mut all = owned(&a.list(0)?);
    all.push(a.any(1));
    Ok(Value::array(all))
}

/// A list's items, or the value alone; null is none.
pub fn any_list(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(items) => owned(items),
        Value::Missing | Value::Null => Vec::new(),
        other => vec![other.clone()],
    }
}
