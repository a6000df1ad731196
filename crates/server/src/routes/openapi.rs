//! The OpenAPI document of the table.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Route, all, handler};
use crate::App;
use crate::error::ApiResult;
use crate::web::{Call, Reply};

pub static ROUTES: &[Route] = &[
    Route::get("/openapi.json", handler!(get), "Describes this API.")
        .gives("OpenAPI 3.1")
        .open(),
];

async fn get(_app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    Ok(Reply::json(&document()))
}

/// The whole document.
pub fn document() -> Value {
    let mut paths: std::collections::BTreeMap<&str, Map<String, Value>> = Default::default();
    for route in all() {
        let operations = paths.entry(route.path).or_default();
        operations.insert(route.method.as_str().to_lowercase(), operation(route));
    }
    let paths: Map<String, Value> = paths
        .into_iter()
        .map(|(path, o)| (path.to_owned(), o.into()))
        .collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "rekuiper",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "REST API of the streaming SQL engine; speaks the API of eKuiper 2.4.",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {"type": "apiKey", "in": "header", "name": "Authorization"},
            },
            "schemas": {
                "Error": {
                    "type": "object",
                    "required": ["error", "message"],
                    "properties": {"error": {"type": "integer"}, "message": {"type": "string"}},
                },
            },
        },
    })
}

fn operation(route: &Route) -> Value {
    let tag = route
        .path
        .split('/')
        .find(|p| !p.is_empty() && *p != "v2")
        .unwrap_or("system");
    let mut o = Map::new();
    o.insert("summary".into(), route.doc.into());
    o.insert("operationId".into(), id(route).into());
    o.insert("tags".into(), json!([tag]));
    let parameters: Vec<Value> = route
        .path
        .split('/')
        .filter_map(|p| p.strip_prefix('{')?.strip_suffix('}'))
        .map(|p| json!({"name": p, "in": "path", "required": true, "schema": {"type": "string"}}))
        .collect();
    if !parameters.is_empty() {
        o.insert("parameters".into(), parameters.into());
    }
    if !route.request.is_empty() {
        let media = if route.request.starts_with("multipart") {
            "multipart/form-data"
        } else {
            "application/json"
        };
        o.insert(
            "requestBody".into(),
            json!({
                "description": route.request, "required": true, "content": {media: {}},
            }),
        );
    }
    let error = json!({
        "description": "why not",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    });
    o.insert(
        "responses".into(),
        json!({
            route.status.to_string(): {"description": route.response},
            "default": error,
        }),
    );
    if !route.open {
        o.insert("security".into(), json!([{}, {"token": []}]));
    }
    o.into()
}

fn id(route: &Route) -> String {
    let mut out = route.method.as_str().to_lowercase();
    for part in route
        .path
        .split(['/', '{', '}', '.'])
        .filter(|p| !p.is_empty())
    {
        out.push('_');
        out.push_str(part);
    }
    out
}
