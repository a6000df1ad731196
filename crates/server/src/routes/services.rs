//! External services whose methods are functions.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Route, handler};
use crate::App;
use crate::engine::Change;
use crate::error::{ApiError, ApiResult};
use crate::services;
use crate::web::json::text;
use crate::web::{Call, Reply, check_name};

const BODY: &str = "{name, file: address of a zip with NAME.json and schemas/}";
const FUNCTION: &str = "{FuncName, ServiceName, InterfaceName, Addr, MethodName}";

pub static ROUTES: &[Route] = &[
    Route::get("/services", handler!(list), "Names the services.").gives("[name]"),
    Route::post("/services", handler!(create), "Installs a service.")
        .takes(BODY)
        .creates(),
    Route::get("/services/{name}", handler!(get), "Describes a service.")
        .gives("{About, Interfaces}"),
    Route::put("/services/{name}", handler!(update), "Replaces a service.").takes(BODY),
    Route::delete("/services/{name}", handler!(delete), "Removes a service."),
    Route::get(
        "/services/functions",
        handler!(functions),
        "Lists the functions of services.",
    )
    .gives("[{FuncName, ServiceName, InterfaceName, Addr, MethodName}]"),
    Route::get(
        "/services/functions/{name}",
        handler!(function),
        "Gives a function of a service.",
    )
    .gives(FUNCTION),
];

async fn list(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    Ok(Reply::json(&app.catalog.services().into()))
}

async fn get(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let name = call.name("name")?;
    match app.catalog.service(name) {
        Some(service) => Ok(Reply::json(&service.shown)),
        None => Err(ApiError::not_found(format!("service {name} is not found"))),
    }
}

async fn functions(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    let all: Vec<Value> = app
        .catalog
        .service_functions()
        .iter()
        .map(|f| f.to_value())
        .collect();
    Ok(Reply::json(&all.into()))
}

async fn function(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let name = call.name("name")?;
    let found = app
        .catalog
        .service_functions()
        .into_iter()
        .find(|f| f.name == name);
    match found {
        Some(f) => Ok(Reply::json(&f.to_value())),
        None => Err(ApiError::not_found(format!(
            "function {name} of a service is not found"
        ))),
    }
}

fn name_of<'a>(o: &'a Map<String, Value>, path: Option<&'a str>) -> ApiResult<&'a str> {
    let own = text(o, "name")?.filter(|s| !s.is_empty());
    let name = path
        .or(own)
        .ok_or_else(|| ApiError::bad("the service has no name"))?;
    check_name("service name", name)
}

async fn install(app: &App, o: Map<String, Value>, name: &str) -> ApiResult<()> {
    services::install(app, name, o).await?;
    app.engine
        .changed(Change::ServicePut(name.to_owned()))
        .await?;
    Ok(())
}

async fn create(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let o = call.object().await?;
    let name = name_of(&o, None)?.to_owned();
    if app.catalog.service(&name).is_some() {
        return Err(ApiError::bad(format!("service {name} already exists")));
    }
    install(&app, o, &name).await?;
    Ok(Reply::created(format!("service {name} is created")))
}

async fn update(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let name = call.name("name")?.to_owned();
    let o = call.object().await?;
    install(&app, o, &name).await?;
    Ok(Reply::text(format!("service {name} is updated")))
}

async fn delete(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let name = call.name("name")?;
    app.catalog.drop_service(name).await?;
    app.engine
        .changed(Change::ServiceDropped(name.to_owned()))
        .await?;
    Ok(Reply::text(format!("service {name} is deleted")))
}
