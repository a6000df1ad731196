//! Settings that change at run time.

use std::sync::Arc;

use axum::http::StatusCode;

use super::{Route, handler};
use crate::App;
use crate::config::zone;
use crate::error::ApiResult;
use crate::web::json::{boolean, nested, text};
use crate::web::{Call, Reply};

pub static ROUTES: &[Route] = &[Route::patch(
    "/configs",
    handler!(change),
    "Changes settings until the next start.",
)
.takes("{logLevel?, debug?, consoleLog?, fileLog?, timezone?, metricsDumpConfig?: {enable}}")
.answers(204)];

async fn change(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let o = call.object().await?;
    // Everything is read before anything is changed.
    let zone = text(&o, "timezone")?.map(zone).transpose()?;
    let (level, debug) = (text(&o, "logLevel")?, boolean(&o, "debug")?);
    let (console, file) = (boolean(&o, "consoleLog")?, boolean(&o, "fileLog")?);
    let dump = nested(&o, "metricsDumpConfig")?
        .map(|d| boolean(d, "enable"))
        .transpose()?;
    if let Some(zone) = zone {
        app.rules.set_zone(zone);
    }
    if let Some(level) = level {
        app.log.set_level(level);
    }
    if let Some(debug) = debug {
        app.log.set_debug(debug);
    }
    if let Some(console) = console {
        app.log.set_console(console);
    }
    if let Some(file) = file {
        app.log.set_file(file);
    }
    if let Some(Some(on)) = dump {
        app.dump.set_enabled(on);
    }
    Ok(Reply::empty().status(StatusCode::NO_CONTENT))
}
