//! The one table of routes. Routers are built from it and the OpenAPI document is made from it.

mod batch;
mod configs;
mod confkeys;
mod connections;
mod data;
pub mod install;
mod metadata;
mod metrics;
pub mod openapi;
mod plugins;
mod portables;
pub(crate) mod pprof;
mod rule_status;
mod rule_tags;
mod rule_trace;
mod rules;
mod ruleset;
mod ruletest;
mod schemas;
mod scripts;
mod services;
mod streams;
mod system;
mod tables;
mod tasks;
mod uploads;

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Method, Response, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{MethodFilter, MethodRouter};

use crate::App;
use crate::auth;
use crate::engine::Fut;
use crate::error::ApiResult;
use crate::web::{Call, Reply};

pub type Handler = fn(Arc<App>, Call) -> Fut<'static, ApiResult<Reply>>;

/// One method of one path.
pub struct Route {
    pub method: Method,
    pub path: &'static str,
    pub handler: Handler,
    /// What it does, in one sentence.
    pub doc: &'static str,
    /// What the body holds; empty where there is none.
    pub request: &'static str,
    /// What comes back.
    pub response: &'static str,
    /// Needs no token.
    pub open: bool,
    pub status: u16,
}

/// A handler as the table holds it.
macro_rules! handler {
    ($f:path) => {
        |app, call| Box::pin($f(app, call))
    };
}
pub(crate) use handler;

impl Route {
    const fn new(method: Method, path: &'static str, handler: Handler, doc: &'static str) -> Route {
        let response = "a line of text, or nothing";
        Route {
            method,
            path,
            handler,
            doc,
            request: "",
            response,
            open: false,
            status: 200,
        }
    }

    const fn get(path: &'static str, handler: Handler, doc: &'static str) -> Route {
        Route::new(Method::GET, path, handler, doc)
    }

    const fn post(path: &'static str, handler: Handler, doc: &'static str) -> Route {
        Route::new(Method::POST, path, handler, doc)
    }

    const fn put(path: &'static str, handler: Handler, doc: &'static str) -> Route {
        Route::new(Method::PUT, path, handler, doc)
    }

    const fn patch(path: &'static str, handler: Handler, doc: &'static str) -> Route {
        Route::new(Method::PATCH, path, handler, doc)
    }

    const fn delete(path: &'static str, handler: Handler, doc: &'static str) -> Route {
        Route::new(Method::DELETE, path, handler, doc)
    }

    const fn takes(mut self, request: &'static str) -> Route {
        self.request = request;
        self
    }

    const fn gives(mut self, response: &'static str) -> Route {
        self.response = response;
        self
    }

    const fn creates(mut self) -> Route {
        self.status = 201;
        self
    }

    const fn answers(mut self, status: u16) -> Route {
        self.status = status;
        self
    }

    const fn open(mut self) -> Route {
        self.open = true;
        self
    }
}

/// Every route, resource by resource.
pub static TABLE: &[&[Route]] = &[
    system::ROUTES,
    configs::ROUTES,
    streams::ROUTES,
    tables::ROUTES,
    rules::ROUTES,
    rule_status::ROUTES,
    rule_tags::ROUTES,
    rule_trace::ROUTES,
    ruletest::ROUTES,
    metadata::ROUTES,
    confkeys::ROUTES,
    connections::ROUTES,
    data::ROUTES,
    ruleset::ROUTES,
    tasks::ROUTES,
    schemas::ROUTES,
    services::ROUTES,
    uploads::ROUTES,
    scripts::ROUTES,
    plugins::SOURCES,
    plugins::SINKS,
    plugins::FUNCTIONS,
    plugins::UDFS,
    portables::ROUTES,
    metrics::ROUTES,
    pprof::ROUTES,
    batch::ROUTES,
    openapi::ROUTES,
];

pub fn all() -> impl Iterator<Item = &'static Route> {
    TABLE.iter().flat_map(|routes| routes.iter())
}

/// The router of the REST server.
pub fn router(app: Arc<App>) -> Router {
    let paths: BTreeSet<&str> = all().map(|r| r.path).collect();
    let mut router = Router::new();
    for path in paths {
        router = router.route(path, methods(&app, path));
    }
    // tools for profiles ask with a slash at the end
    router = router.route("/debug/pprof/", methods(&app, "/debug/pprof"));
    router.fallback(not_found)
}

/// All methods of a path. A path without parameters also takes the methods of a path with
/// parameters that covers it: `GET /rules/validate` asks for a rule of that name.
fn methods(app: &Arc<App>, path: &'static str) -> MethodRouter {
    let mut out = MethodRouter::new();
    let mut seen = BTreeSet::new();
    let own = all().filter(|r| r.path == path);
    let covering = all().filter(|r| r.path != path && covers_template(r.path, path));
    for route in own.chain(covering) {
        let Ok(filter) = MethodFilter::try_from(route.method.clone()) else {
            continue;
        };
        if seen.insert(route.method.as_str()) {
            let app = app.clone();
            out = out.on(filter, move |request: Request| {
                answer(app.clone(), route, request)
            });
        }
    }
    out
}

fn covers_template(template: &str, path: &str) -> bool {
    !path.contains('{') && crate::web::covers(template, path)
}

async fn answer(app: Arc<App>, route: &'static Route, request: Request) -> Response<Body> {
    if app.config.basic.audit {
        tracing::info!("rest {} {}", request.method(), request.uri().path());
    }
    if !route.open && app.config.basic.authentication {
        let token = request.headers().get("authorization");
        if let Err(e) = auth::check(&app.config.dirs.etc, token) {
            return Reply::from(e).into_response();
        }
    }
    match (route.handler)(app, Call::new(request, route.path)).await {
        Ok(reply) => reply.into_response(),
        Err(e) => Reply::from(e).into_response(),
    }
}

async fn not_found() -> Response<Body> {
    let reply = Reply::text("404 page not found\n").status(StatusCode::NOT_FOUND);
    reply.into_response().into_response()
}
