//! Dicts. `set`, `unset` and `merge` change the variable that is given first, as they do in Go.

use std::sync::Arc;

use rekuiper_value::{Object, Result, Str, Value};

use super::{Args, Function, MANY, f, to_text};

pub const FUNCTIONS: &[Function] = &[
    f("dict", 0, MANY, |a| {
        let pair = |pair: &[Value]| {
            let value = pair.get(1).cloned().unwrap_or_else(|| Value::from(""));
            (Str::from(to_text(&pair[0])), value)
        };
        Ok(Value::object(a.args.chunks(2).map(pair).collect()))
    }),
    f("get", 2, 2, |a| Ok(a.dict(0)?.get(a.str(1)?).cloned().unwrap_or_else(|| Value::from("")))),
    f("set", 3, 3, |a| {
        let mut dict = (*a.dict(0)?).clone();
        dict.insert(Str::from(a.str(1)?), a.any(2));
        Ok(Value::object(dict))
    }),
    f("unset", 2, 2, |a| {
        let mut dict = (*a.dict(0)?).clone();
        dict.remove(a.str(1)?);
        Ok(Value::object(dict))
    }),
    f("hasKey", 2, 2, |a| Ok(Value::Bool(a.dict(0)?.contains_key(a.str(1)?)))),
    f("keys", 0, MANY, |a| {
        let mut all = Vec::new();
        for at in 0..a.len() {
            all.extend(a.dict(at)?.keys().map(|key| Value::Str(key.clone())));
        }
        Ok(Value::array(all))
    }),
    f("values", 1, 1, |a| Ok(Value::array(a.dict(0)?.values().cloned().collect()))),
    f("pick", 1, MANY, |a| chosen(a, true)),
    f("omit", 1, MANY, |a| chosen(a, false)),
    f("pluck", 1, MANY, |a| {
        let mut all = Vec::new();
        for at in 1..a.len() {
            all.extend(a.dict(at)?.get(a.str(0)?).cloned());
        }
        Ok(Value::array(all))
    }),
    f("merge", 1, MANY, |a| merged(a, false)),
    f("mergeOverwrite", 1, MANY, |a| merged(a, true)),
    f("dig", 3, MANY, dig),
    f("deepCopy", 1, 1, |a| Ok(a.any(0))),
];

fn chosen(a: &Args<'_, '_>, keep: bool) -> Result<Value> {
    let mut named = Vec::new();
    for at in 1..a.len() {
        named.push(a.str(at)?);
    }
    let dict = a.dict(0)?;
    let kept = dict.iter().filter(|(key, _)| named.contains(&key.as_str()) == keep);
    Ok(Value::object(kept.map(|(k, v)| (k.clone(), v.clone())).collect()))
}

fn merged(a: &Args<'_, '_>, overwrite: bool) -> Result<Value> {
    let mut dict = (*a.dict(0)?).clone();
    for at in 1..a.len() {
        merge(&mut dict, &*a.dict(at)?, overwrite, 0);
    }
    Ok(Value::object(dict))
}

fn merge(into: &mut Object, from: &Object, overwrite: bool, depth: usize) {
    for (key, value) in from {
        match (into.get_mut(key), value) {
            (Some(Value::Object(old)), Value::Object(new)) if depth < 100 => {
                merge(Arc::make_mut(old), new, overwrite, depth + 1);
            }
            (Some(old), _) if overwrite || !crate::exec::truth(old) => *old = value.clone(),
            (Some(_), _) => {}
            (None, _) => drop(into.insert(key.clone(), value.clone())),
        }
    }
}

/// `dig "a" "b" "default" dict`.
fn dig(a: &mut Args<'_, '_>) -> Result<Value> {
    let count = a.len();
    let mut dict = a.dict(count - 1)?;
    for at in 0..count - 2 {
        let Some(value) = dict.get(a.str(at)?).cloned() else { return Ok(a.any(count - 2)) };
        if at + 3 == count {
            return Ok(value);
        }
        match value {
            Value::Object(inner) => dict = inner,
            _ => return Ok(a.any(count - 2)),
        }
    }
    Ok(a.any(count - 2))
}
