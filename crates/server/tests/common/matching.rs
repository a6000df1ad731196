//! Expectations of the recorded cases against answers.

use regex::Regex;
use serde_json::{Map, Value};

fn is_type(want: &str, got: &Value) -> Option<bool> {
    Some(match want {
        "{any}" => true,
        "{int}" => got.is_i64() || got.is_u64(),
        "{number}" => got.is_number(),
        "{string}" => got.is_string(),
        "{bool}" => got.is_boolean(),
        "{null}" => got.is_null(),
        _ => return None,
    })
}

pub fn keys_ok(got: &Value, want: &[Value]) -> bool {
    let Value::Object(got) = got else {
        return false;
    };
    let want: Vec<&str> = want.iter().filter_map(Value::as_str).collect();
    let open = want.contains(&"*");
    let need = want.iter().filter(|k| !k.starts_with('?') && **k != "*");
    let may = |k: &String| want.iter().any(|w| w.trim_start_matches('?') == k);
    need.clone().all(|k| got.contains_key(*k)) && (open || got.keys().all(may))
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap_or_else(|e| panic!("{pattern}: {e}"))
}

/// Whether a pattern is found; one that begins with `^(?!.*` and ends with `)` must not be: the
/// only look-ahead that the recorded cases have.
fn found(pattern: &str, text: &str) -> bool {
    match pattern.strip_prefix("^(?!.*").and_then(|p| p.strip_suffix(')')) {
        Some(unwanted) => !regex(unwanted).is_match(text),
        None => regex(&format!("(?s){pattern}")).is_match(text),
    }
}

pub fn matches(got: &Value, want: &Value, subset: bool) -> bool {
    if let Value::String(w) = want
        && let Some(ok) = is_type(w, got)
    {
        return ok;
    }
    if let Value::Object(w) = want
        && w.len() == 1
        && let Some(ok) = operator(got, w, subset)
    {
        return ok;
    }
    match (got, want) {
        (Value::Number(g), Value::Number(w)) => {
            let (g, w) = (g.as_f64().unwrap_or(0.0), w.as_f64().unwrap_or(0.0));
            g == w || (g - w).abs() <= 1e-9 * g.abs().max(w.abs())
        }
        (Value::Object(g), Value::Object(w)) => object(g, w, subset),
        (Value::Array(g), Value::Array(w)) if subset => {
            w.iter().all(|w| g.iter().any(|g| matches(g, w, true)))
        }
        (Value::Array(g), Value::Array(w)) => {
            g.len() == w.len() && g.iter().zip(w).all(|(g, w)| matches(g, w, false))
        }
        _ => got == want,
    }
}

fn object(got: &Map<String, Value>, want: &Map<String, Value>, subset: bool) -> bool {
    let one = |(k, w): (&String, &Value)| match w.get("$absent") {
        Some(_) => !got.contains_key(k),
        None => got.get(k).is_some_and(|g| matches(g, w, subset)),
    };
    want.iter().all(one) && (subset || got.len() == want.len())
}

fn operator(got: &Value, want: &Map<String, Value>, subset: bool) -> Option<bool> {
    let (op, arg) = want.iter().next()?;
    let list = arg.as_array();
    let any = |w: &Value| {
        got.as_array()
            .is_some_and(|g| g.iter().any(|g| matches(g, w, subset)))
    };
    Some(match op.as_str() {
        "$re" => got
            .as_str()
            .is_some_and(|g| regex(arg.as_str().unwrap_or("")).is_match(g)),
        "$keys" => keys_ok(got, list?),
        "$subset" => matches(got, arg, true),
        "$json" => got
            .as_str()
            .and_then(|g| serde_json::from_str::<Value>(g).ok())
            .is_some_and(|g| matches(&g, arg, subset)),
        "$has" => got.is_array() && list?.iter().all(any),
        "$hasnot" => got.is_array() && !list?.iter().any(any),
        "$unordered" => {
            let (Some(got), want) = (got.as_array(), list?) else {
                return Some(false);
            };
            let mut left: Vec<&Value> = got.iter().collect();
            let take = |w: &Value| {
                let hit = left.iter().position(|g| matches(g, w, subset));
                hit.map(|i| left.remove(i)).is_some()
            };
            got.len() == want.len() && want.iter().all(take)
        }
        _ => return None,
    })
}

/// What does not hold, if anything.
pub fn check(
    expect: &Map<String, Value>,
    status: Option<u16>,
    body: Option<&str>,
    header: &dyn Fn(&str) -> String,
) -> Option<String> {
    if let (Some(want), Some(got)) = (expect.get("status").and_then(Value::as_u64), status)
        && u64::from(got) != want
    {
        return Some(format!(
            "status {got}, want {want}: {}",
            body.unwrap_or_default()
        ));
    }
    if let Some(want) = expect.get("exists").and_then(Value::as_bool)
        && want != body.is_some()
    {
        return Some(format!("exists is {}", body.is_some()));
    }
    let body = body.unwrap_or_default();
    let shown = || body.chars().take(600).collect::<String>();
    if let Some(want) = expect.get("text").and_then(Value::as_str)
        && body.trim() != want.trim()
    {
        return Some(format!("text {:?}, want {want:?}", shown()));
    }
    if let Some(want) = expect.get("regex").and_then(Value::as_str)
        && !found(want, body)
    {
        return Some(format!("body {:?}, want /{want}/", shown()));
    }
    for line in expect
        .get("yaml_has")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let want = line.as_str().unwrap_or_default().trim();
        if !body.lines().any(|l| l.trim() == want) {
            return Some(format!("line {want:?} is missing in {:?}", shown()));
        }
    }
    for (name, want) in expect
        .get("headers")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        if !regex(want.as_str().unwrap_or_default()).is_match(&header(name)) {
            return Some(format!(
                "header {name} is {:?}, want /{want}/",
                header(name)
            ));
        }
    }
    json(expect, body)
}

fn json(expect: &Map<String, Value>, body: &str) -> Option<String> {
    let wanted = ["json", "json_subset", "json_keys"];
    if !wanted.iter().any(|k| expect.contains_key(*k)) {
        return None;
    }
    let Ok(got) = serde_json::from_str::<Value>(body) else {
        return Some(format!("not JSON: {body}"));
    };
    let bad = |what: &str, want: &Value| Some(format!("{what} {got}, want {want}"));
    if let Some(want) = expect.get("json").filter(|w| !matches(&got, w, false)) {
        return bad("json", want);
    }
    if let Some(want) = expect
        .get("json_subset")
        .filter(|w| !matches(&got, w, true))
    {
        return bad("json_subset", want);
    }
    match expect.get("json_keys") {
        Some(Value::Array(want)) if !keys_ok(&got, want) => bad("keys", &want.clone().into()),
        _ => None,
    }
}
