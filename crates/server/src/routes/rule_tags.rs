//! Words that rules carry.

use std::sync::Arc;

use serde_json::{Map, json};

use super::{Route, handler};
use crate::App;
use crate::error::ApiResult;
use crate::web::json::texts;
use crate::web::{Call, Reply};

const TAGS: &str = "{tags: [text]}";

pub static ROUTES: &[Route] = &[
    Route::get(
        "/rules/tags/match",
        handler!(matching),
        "Names the rules with all of these tags.",
    )
    .takes(TAGS)
    .gives("{rules: [id]}, {} when there is none"),
    Route::put(
        "/rules/{name}/tags",
        handler!(set),
        "Sets the tags of a rule.",
    )
    .takes(TAGS),
    Route::patch("/rules/{name}/tags", handler!(add), "Adds tags to a rule.").takes(TAGS),
    Route::delete(
        "/rules/{name}/tags",
        handler!(remove),
        "Takes tags off a rule.",
    )
    .takes(TAGS),
];

async fn tags_of(call: &mut Call) -> ApiResult<Vec<String>> {
    Ok(texts(&call.object().await?, "tags")?.unwrap_or_default())
}

async fn matching(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let tags = tags_of(&mut call).await?;
    let rules = app.rules.all();
    let ids: Vec<&str> = rules
        .iter()
        .filter(|r| r.def().has_tags(&tags))
        .map(|r| r.id.as_str())
        .collect();
    match ids.is_empty() {
        true => Ok(Reply::json(&Map::new().into())),
        false => Ok(Reply::json(&json!({"rules": ids}))),
    }
}

async fn set(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let tags = tags_of(&mut call).await?;
    app.rules
        .set_tags(call.name("name")?, |_| tags.clone())
        .await?;
    Ok(Reply::empty())
}

async fn add(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let tags = tags_of(&mut call).await?;
    let add = |mut own: Vec<String>| {
        for tag in &tags {
            if !own.contains(tag) {
                own.push(tag.clone());
            }
        }
        own
    };
    app.rules.set_tags(call.name("name")?, add).await?;
    Ok(Reply::empty())
}

async fn remove(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let tags = tags_of(&mut call).await?;
    let keep = |own: Vec<String>| own.into_iter().filter(|t| !tags.contains(t)).collect();
    app.rules.set_tags(call.name("name")?, keep).await?;
    Ok(Reply::empty())
}
