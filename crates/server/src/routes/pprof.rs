//! What stands where eKuiper has the profiles of the Go runtime: figures of this process, and a
//! plain word that there are no such profiles here, with the way to get what they are wanted for.
//!
//! Served only where `basic.pprof` is on: at its own address, or at that of REST when both agree.

use std::sync::Arc;

use axum::http::StatusCode;

use super::{Route, handler};
use crate::App;
use crate::error::{ApiError, ApiResult};
use crate::process::{self, kib};
use crate::web::{Call, Reply};

pub static ROUTES: &[Route] = &[
    Route::get("/debug/pprof", handler!(index), "Gives figures of the process, where pprof is on.")
        .gives("lines of text"),
    Route::get(
        "/debug/pprof/{profile}",
        handler!(profile),
        "Says that there are no profiles of the Go runtime, where pprof is on.",
    )
    .gives("a line of text, status 501"),
];

/// The profiles of the Go runtime.
const PROFILES: [&str; 10] = [
    "allocs", "block", "cmdline", "goroutine", "heap", "mutex", "profile", "symbol",
    "threadcreate", "trace",
];

async fn index(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    on_rest(&app).map(|()| Reply::text(figures(&app)))
}

async fn profile(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    on_rest(&app)?;
    no_profile(call.name("profile")?)
}

/// Whether the profiles' address is that of REST.
pub fn shares_rest(app: &App) -> bool {
    let rest = &app.config.rest;
    app.config.basic.pprof.as_ref().is_some_and(|at| at.ip == rest.ip && at.port == rest.port)
}

fn on_rest(app: &App) -> ApiResult<()> {
    match shares_rest(app) {
        true => Ok(()),
        false => Err(ApiError::bare(StatusCode::NOT_FOUND, "404 page not found")),
    }
}

/// The lines of `/debug/pprof/`.
pub fn figures(app: &App) -> String {
    const STATUS: &str = "/proc/self/status";
    let mut out = format!(
        "rekuiper {}: figures of process {}; profiles of the Go runtime do not exist here\n\n\
         uptime_seconds {}\ncpu_seconds {:.2}\nresident_bytes {}\npeak_resident_bytes {}\n\
         threads {}\n",
        env!("CARGO_PKG_VERSION"),
        std::process::id(),
        app.started.elapsed().as_secs(),
        process::cpu_seconds(),
        kib(STATUS, "VmRSS:") * 1024,
        kib(STATUS, "VmHWM:") * 1024,
        kib(STATUS, "Threads:"),
    );
    for (rule, ms) in app.engine.cpu_usage().unwrap_or_default() {
        out += &format!("rule_cpu_milliseconds {rule} {ms}\n");
    }
    out
}

/// The answer to who asks for a profile of the Go runtime.
pub fn no_profile(name: &str) -> ApiResult<Reply> {
    if !PROFILES.contains(&name) {
        return Err(ApiError::bare(StatusCode::NOT_FOUND, "Unknown profile"));
    }
    let id = std::process::id();
    let text = format!(
        "{name} is a profile of the Go runtime, and this server is no Go program. Where its time \
         goes shows `perf record -g -p {id}`, its figures are at /debug/pprof/, the time of each \
         rule at /rules/usage/cpu (basic.ResourceProfileConfig.enable), all metrics at /metrics."
    );
    Ok(Reply::text(text + "\n").status(StatusCode::NOT_IMPLEMENTED))
}
