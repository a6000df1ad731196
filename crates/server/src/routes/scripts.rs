//! Functions written in JavaScript.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Route, handler};
use crate::App;
use crate::engine::Change;
use crate::error::{ApiError, ApiResult};
use crate::web::json::{boolean, text};
use crate::web::{Call, Reply, check_name};

const BODY: &str = "{id, description, script, isAgg}";

pub static ROUTES: &[Route] = &[
    Route::get(
        "/udf/javascript",
        handler!(list),
        "Names the JavaScript functions.",
    )
    .gives("[id]"),
    Route::post(
        "/udf/javascript",
        handler!(create),
        "Makes a JavaScript function.",
    )
    .takes(BODY)
    .creates(),
    Route::get(
        "/udf/javascript/{id}",
        handler!(get),
        "Gives a JavaScript function.",
    )
    .gives(BODY),
    Route::put(
        "/udf/javascript/{id}",
        handler!(update),
        "Replaces a JavaScript function, or makes it.",
    )
    .takes(BODY),
    Route::delete(
        "/udf/javascript/{id}",
        handler!(delete),
        "Drops a JavaScript function.",
    ),
];

async fn list(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    let ids: Vec<String> = app
        .catalog
        .scripts()
        .into_iter()
        .map(|(id, _)| id)
        .collect();
    Ok(Reply::json(&ids.into()))
}

async fn get(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let id = call.name("id")?;
    match app.catalog.script(id) {
        Some(script) => Ok(Reply::json(&script.into())),
        None => Err(ApiError::bad(format!(
            "javascript function {id} does not exist"
        ))),
    }
}

/// Reads and checks a definition, and keeps it.
pub async fn put(
    app: &App,
    o: &Map<String, Value>,
    path_id: Option<&str>,
    only_new: bool,
) -> ApiResult<String> {
    let own = text(o, "id")?.filter(|s| !s.is_empty());
    let id = path_id
        .or(own)
        .ok_or_else(|| ApiError::bad("the function has no id"))?;
    check_name("function id", id)?;
    let script = text(o, "script")?.unwrap_or_default();
    check(id, script)?;
    let kept = json!({
        "id": id,
        "description": text(o, "description")?.unwrap_or_default(),
        "script": script,
        "isAgg": boolean(o, "isAgg")?.unwrap_or(false),
    });
    let Value::Object(kept) = kept else {
        return Err(ApiError::bad("no function"));
    };
    app.catalog.put_script(id, kept, only_new).await?;
    app.engine.changed(Change::ScriptPut(id.to_owned())).await?;
    Ok(id.to_owned())
}

async fn create(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let id = put(&app, &call.object().await?, None, true).await?;
    Ok(Reply::created(format!(
        "javascript function {id} is created"
    )))
}

async fn update(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let id = call.name("id")?.to_owned();
    put(&app, &call.object().await?, Some(&id), false).await?;
    Ok(Reply::text(format!("javascript function {id} is updated")))
}

async fn delete(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let id = call.name("id")?;
    app.catalog.drop_script(id).await?;
    app.engine
        .changed(Change::ScriptDropped(id.to_owned()))
        .await?;
    Ok(Reply::text(format!("javascript function {id} is deleted")))
}

/// The script can be run, and defines a function of this name.
#[cfg(feature = "script")]
fn check(id: &str, script: &str) -> ApiResult<()> {
    check_text(id, script)?;
    let made = crate::external::script::Script::new(id, script);
    made.map(drop).map_err(|e| ApiError::bad(e.0))
}

#[cfg(not(feature = "script"))]
use check_text as check;

/// Brackets pair up and a function of this name is defined: what can be told without an engine.
fn check_text(id: &str, script: &str) -> ApiResult<()> {
    let code = bare(script).map_err(|why| ApiError::bad(format!("the script of {id}: {why}")))?;
    let mut words = code
        .split(|c: char| !(c.is_alphanumeric() || "_$".contains(c)))
        .filter(|w| !w.is_empty());
    while let Some(word) = words.next() {
        let defines = ["function", "var", "let", "const"].contains(&word);
        if defines && words.clone().next() == Some(id) {
            return Ok(());
        }
    }
    Err(ApiError::bad(format!(
        "the script defines no function called {id}"
    )))
}

/// The script without comments and texts; an error when brackets or texts are left open.
fn bare(script: &str) -> Result<String, String> {
    let (mut out, mut open) = (String::new(), Vec::new());
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('/', Some('/')) => while chars.next_if(|c| *c != '\n').is_some() {},
            ('/', Some('*')) => {
                let mut last = ' ';
                chars.next();
                for c in chars.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            ('"' | '\'' | '`', _) => {
                let mut closed = false;
                while let Some(x) = chars.next() {
                    if x == '\\' {
                        chars.next();
                    } else if x == c {
                        closed = true;
                        break;
                    }
                }
                if !closed {
                    return Err("a text is not closed".into());
                }
                out.push(' ');
            }
            ('(' | '[' | '{', _) => {
                open.push(c);
                out.push(c);
            }
            (')' | ']' | '}', _) => {
                let want = match c {
                    ')' => '(',
                    ']' => '[',
                    _ => '{',
                };
                if open.pop() != Some(want) {
                    return Err(format!("{c:?} closes nothing"));
                }
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    match open.pop() {
        Some(c) => Err(format!("{c:?} is not closed")),
        None => Ok(out),
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn the_function_must_be_there_and_brackets_pair() {
        assert!(check("f", "function f(a) { return a + '}'; } // {").is_ok());
        assert!(check("f", "const f = (a) => a;").is_ok());
        for bad in [
            "function (",
            "function g() {}",
            "// function f() {}",
            "'function f() {}'",
            "",
        ] {
            assert!(check("f", bad).is_err(), "{bad}");
        }
    }
}
