//! About the process.

use std::sync::Arc;

use serde_json::json;

use super::{Route, handler};
use crate::App;
use crate::error::ApiResult;
use crate::web::{Call, Reply};

pub static ROUTES: &[Route] = &[
    Route::get("/", handler!(about), "Says what server this is.")
        .gives(ABOUT)
        .open(),
    Route::post("/", handler!(about), "Says what server this is.")
        .gives(ABOUT)
        .open(),
    Route::get("/ping", handler!(ping), "Tells that the server is alive.").open(),
    Route::get("/stop", handler!(stop), "Stops the process in good order."),
    Route::post("/stop", handler!(stop), "Stops the process in good order."),
];

const ABOUT: &str = "{version, os, arch, upTimeSeconds, cpuUsage, memoryUsed, memoryTotal}";

async fn about(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let meter = app.process.read();
    Ok(Reply::json(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "os": std::env::consts::OS,
        "arch": arch,
        "upTimeSeconds": app.started.elapsed().as_secs(),
        "cpuUsage": format!("{:.2}%", meter.cpu_percent),
        "memoryUsed": meter.memory_used.to_string(),
        "memoryTotal": meter.memory_total.to_string(),
    })))
}

async fn ping(_app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    Ok(Reply::empty())
}

async fn stop(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    app.ask_to_stop(0);
    Ok(Reply::text("stop success"))
}
