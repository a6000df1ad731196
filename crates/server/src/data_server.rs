//! The data server: one port on which connectors take requests, serve events and talk WebSocket.
//! Connectors register paths; a path is free again when its last registration is dropped.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Body;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{FromRequestParts, Request};
use axum::http::{HeaderValue, Method, Response, StatusCode};
use axum::response::IntoResponse;
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http_body_util::{BodyExt, Limited};
use tokio::sync::broadcast;

use crate::engine::Fut;
use crate::web::Reply;

/// Events that wait for a slow listener; older ones are skipped for it.
const EVENTS: usize = 1024;
const MAX_BODY: usize = 64 << 20;

/// Takes what a client sent; back-pressure reaches the client.
pub type Deliver = Arc<dyn Fn(Bytes) -> Fut<'static, ()> + Send + Sync>;

/// Sends to all who listen at a path.
#[derive(Clone)]
pub struct Events {
    to: broadcast::Sender<Bytes>,
}

impl Events {
    /// How many got it; absent listeners miss it.
    pub fn send(&self, event: impl Into<Bytes>) -> usize {
        self.to.send(event.into()).unwrap_or(0)
    }
}

enum Endpoint {
    Push {
        method: Method,
        takers: Vec<(u64, Deliver)>,
    },
    Events {
        events: Events,
        users: Vec<u64>,
    },
    Socket {
        events: Events,
        users: Vec<u64>,
        takers: Vec<(u64, Deliver)>,
    },
}

#[derive(Default)]
struct Paths {
    by_path: HashMap<String, Endpoint>,
    next: u64,
}

#[derive(Clone)]
pub struct DataServer {
    paths: Arc<Mutex<Paths>>,
    port: u16,
}

/// Frees its path when dropped.
pub struct Registration {
    paths: Arc<Mutex<Paths>>,
    path: String,
    number: u64,
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut paths = lock(&self.paths);
        let Some(endpoint) = paths.by_path.get_mut(&self.path) else {
            return;
        };
        if endpoint.leave(self.number) {
            paths.by_path.remove(&self.path);
        }
    }
}

impl Endpoint {
    /// Whether nobody is left.
    fn leave(&mut self, number: u64) -> bool {
        match self {
            Endpoint::Push { takers, .. } => {
                takers.retain(|(n, _)| *n != number);
                takers.is_empty()
            }
            Endpoint::Events { users, .. } => {
                users.retain(|n| *n != number);
                users.is_empty()
            }
            Endpoint::Socket { users, takers, .. } => {
                users.retain(|n| *n != number);
                takers.retain(|(n, _)| *n != number);
                users.is_empty() && takers.is_empty()
            }
        }
    }
}

fn lock(paths: &Mutex<Paths>) -> MutexGuard<'_, Paths> {
    paths.lock().unwrap_or_else(PoisonError::into_inner)
}

fn taken(path: &str) -> String {
    format!("path {path} of the data server is in use for something else")
}

impl DataServer {
    /// `port` is where it will listen.
    pub fn new(port: u16) -> DataServer {
        DataServer {
            paths: Arc::default(),
            port,
        }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    fn join<T>(
        &self,
        path: &str,
        make: impl FnOnce() -> Endpoint,
        join: impl FnOnce(&mut Endpoint, u64) -> Option<T>,
    ) -> Result<(T, Registration), String> {
        if !path.starts_with('/') {
            return Err(format!("path {path:?} must begin with a slash"));
        }
        let mut paths = lock(&self.paths);
        paths.next += 1;
        let number = paths.next;
        let endpoint = paths.by_path.entry(path.to_owned()).or_insert_with(make);
        let joined = join(endpoint, number).ok_or_else(|| taken(path))?;
        drop(paths);
        let registration = Registration {
            paths: self.paths.clone(),
            path: path.to_owned(),
            number,
        };
        Ok((joined, registration))
    }

    /// Takes the bodies of requests of one method; all who registered get each.
    pub fn push(&self, path: &str, method: Method, to: Deliver) -> Result<Registration, String> {
        let own = method.clone();
        let make = move || Endpoint::Push {
            method: own,
            takers: Vec::new(),
        };
        let join = |e: &mut Endpoint, n| match e {
            Endpoint::Push { method: m, takers } if *m == method => {
                takers.push((n, to));
                Some(())
            }
            _ => None,
        };
        self.join(path, make, join).map(|(_, r)| r)
    }

    /// Serves server-sent events.
    pub fn events(&self, path: &str) -> Result<(Events, Registration), String> {
        let make = || Endpoint::Events {
            events: new_events(),
            users: Vec::new(),
        };
        self.join(path, make, |e, n| match e {
            Endpoint::Events { events, users } => {
                users.push(n);
                Some(events.clone())
            }
            _ => None,
        })
    }

    /// Talks WebSocket: what is sent goes to every client, what clients send goes to `to`.
    pub fn socket(
        &self,
        path: &str,
        to: Option<Deliver>,
    ) -> Result<(Events, Registration), String> {
        let make = || Endpoint::Socket {
            events: new_events(),
            users: Vec::new(),
            takers: Vec::new(),
        };
        self.join(path, make, |e, n| match e {
            Endpoint::Socket {
                events,
                users,
                takers,
            } => {
                match to {
                    Some(to) => takers.push((n, to)),
                    None => users.push(n),
                }
                Some(events.clone())
            }
            _ => None,
        })
    }

    /// Answers a request of the data server.
    pub async fn answer(self, request: Request) -> Response<Body> {
        let found = {
            let paths = lock(&self.paths);
            match paths.by_path.get(request.uri().path()) {
                None => return status(StatusCode::NOT_FOUND, "404 page not found\n"),
                Some(Endpoint::Push { method, takers }) => {
                    if method != request.method() {
                        return status(StatusCode::METHOD_NOT_ALLOWED, "");
                    }
                    Found::Push(takers.iter().map(|(_, t)| t.clone()).collect())
                }
                Some(Endpoint::Events { events, .. }) => Found::Events(events.to.subscribe()),
                Some(Endpoint::Socket { events, .. }) => Found::Socket(events.to.subscribe()),
            }
        };
        match found {
            Found::Push(takers) => take(request, takers).await,
            Found::Events(from) => stream(from),
            Found::Socket(from) => self.upgrade(request, from).await,
        }
    }

    async fn upgrade(self, request: Request, from: broadcast::Receiver<Bytes>) -> Response<Body> {
        let path = request.uri().path().to_owned();
        let (mut parts, _) = request.into_parts();
        match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
            Ok(upgrade) => upgrade.on_upgrade(move |socket| self.talk(path, socket, from)),
            Err(e) => e.into_response(),
        }
    }

    fn takers(&self, path: &str) -> Option<Vec<Deliver>> {
        match lock(&self.paths).by_path.get(path) {
            Some(Endpoint::Socket { takers, .. }) => {
                Some(takers.iter().map(|(_, t)| t.clone()).collect())
            }
            _ => None,
        }
    }

    /// One client of a WebSocket, until it or the path goes.
    async fn talk(self, path: String, socket: WebSocket, mut from: broadcast::Receiver<Bytes>) {
        let (mut out, mut inn) = socket.split();
        loop {
            tokio::select! {
                event = from.recv() => match event {
                    Ok(event) => {
                        let text = String::from_utf8_lossy(&event).into_owned();
                        if out.send(Message::Text(text.into())).await.is_err() {
                            return;
                        }
                    }
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return,
                },
                message = inn.next() => match message {
                    Some(Ok(Message::Text(text))) => {
                        let Some(takers) = self.takers(&path) else { return };
                        for take in takers {
                            take(Bytes::copy_from_slice(text.as_bytes())).await;
                        }
                    }
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return,
                },
            }
        }
    }
}

enum Found {
    Push(Vec<Deliver>),
    Events(broadcast::Receiver<Bytes>),
    Socket(broadcast::Receiver<Bytes>),
}

fn new_events() -> Events {
    Events {
        to: broadcast::channel(EVENTS).0,
    }
}

fn status(status: StatusCode, text: &str) -> Response<Body> {
    Reply::text(text).status(status).into_response()
}

async fn take(request: Request, takers: Vec<Deliver>) -> Response<Body> {
    match Limited::new(request.into_body(), MAX_BODY).collect().await {
        Err(e) => status(StatusCode::BAD_REQUEST, &format!("{e}\n")),
        Ok(body) => {
            let body = body.to_bytes();
            for take in takers {
                take(body.clone()).await;
            }
            status(StatusCode::OK, "ok")
        }
    }
}

fn stream(from: broadcast::Receiver<Bytes>) -> Response<Body> {
    let events = futures_util::stream::unfold(from, |mut from| async {
        loop {
            match from.recv().await {
                Ok(event) => return Some((Ok::<_, std::convert::Infallible>(frame(&event)), from)),
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    });
    // Something at once, so that the client sees the headers.
    let first = futures_util::stream::once(async { Ok(Bytes::from_static(b": open\n\n")) });
    let mut response = Response::new(Body::from_stream(first.chain(events)));
    let headers = response.headers_mut();
    headers.insert(
        "content-type",
        HeaderValue::from_static("text/event-stream"),
    );
    headers.insert("cache-control", HeaderValue::from_static("no-cache"));
    headers.insert("access-control-allow-origin", HeaderValue::from_static("*"));
    response
}

/// An event may hold line ends; each line is led by its own word.
fn frame(event: &[u8]) -> Bytes {
    let text = String::from_utf8_lossy(event);
    let lines: Vec<String> = text.lines().map(|l| format!("data: {l}\n")).collect();
    Bytes::from(format!(
        "{}\n",
        if lines.is_empty() {
            "data: \n".into()
        } else {
            lines.concat()
        }
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_for_one_thing_and_free_again_when_all_left() {
        let server = DataServer::new(0);
        let nothing: Deliver = Arc::new(|_| Box::pin(async {}));
        let a = server.push("/p", Method::POST, nothing.clone()).unwrap();
        let b = server.push("/p", Method::POST, nothing.clone()).unwrap();
        assert!(server.push("/p", Method::PUT, nothing.clone()).is_err());
        assert!(server.events("/p").is_err());
        drop(a);
        assert!(server.events("/p").is_err());
        drop(b);
        assert!(server.events("/p").is_ok());
        assert!(server.push("p", Method::POST, nothing).is_err());
    }

    #[test]
    fn each_line_of_an_event_is_led_by_its_word() {
        assert_eq!(frame(b"a\nb"), "data: a\ndata: b\n\n");
    }
}
