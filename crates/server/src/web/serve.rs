//! A listener: plain or TLS, a bounded number of connections, one request each.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper::server::conn::http1::UpgradeableConnection;
use hyper::service::{HttpService, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use super::cors;
use crate::engine::Fut;

/// Connections served at the same time; further ones wait in the backlog of the system.
const MAX_CONNECTIONS: usize = 1024;
const HEADERS_WITHIN: Duration = Duration::from_secs(30);
const REQUEST_WITHIN: Duration = Duration::from_secs(300);
/// For requests under way when the server stops.
const AT_STOP: Duration = Duration::from_secs(2);
/// Of a request whose answer is out already.
const MAX_REST: usize = 4 << 20;
const REST_WITHIN: Duration = Duration::from_secs(2);

/// Answers one request.
pub type Answer = Arc<dyn Fn(Request<Body>) -> Fut<'static, Response<Body>> + Send + Sync>;

pub struct Listener {
    pub listener: TcpListener,
    pub tls: Option<TlsAcceptor>,
    /// Streams (SSE, WebSocket) stay open and connections are kept; otherwise one request each.
    pub long_lived: bool,
}

impl Listener {
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` turns true, then lets requests under way end.
    pub async fn run(self, answer: Answer, mut stop: watch::Receiver<bool>) {
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let Ok(place) = places.clone().acquire_owned().await else {
                return;
            };
            let stream = tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    Err(e) => {
                        // Out of file handles, mostly: wait for some to come back.
                        tracing::warn!("a connection was not accepted: {e}");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        continue;
                    }
                },
                _ = asked(&mut stop) => return,
            };
            let (answer, tls, stop, keep) = (
                answer.clone(),
                self.tls.clone(),
                stop.clone(),
                self.long_lived,
            );
            tokio::spawn(async move {
                connection(stream, tls, answer, keep, stop).await;
                drop(place);
            });
        }
    }
}

/// Waits until the server is to stop.
async fn asked(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|s| *s).await.is_ok();
}

async fn connection(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    answer: Answer,
    keep: bool,
    stop: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    match tls {
        None => exchange(stream, answer, keep, stop).await,
        Some(tls) => match tokio::time::timeout(HEADERS_WITHIN, tls.accept(stream)).await {
            Ok(Ok(stream)) => exchange(stream, answer, keep, stop).await,
            Ok(Err(e)) => tracing::debug!("TLS handshake failed: {e}"),
            Err(_) => tracing::debug!("TLS handshake took too long"),
        },
    }
}

async fn exchange<S>(stream: S, answer: Answer, keep: bool, mut stop: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request: Request<Incoming>| {
        let answer = answer.clone();
        async move {
            let request = request.map(Body::new);
            let origin = request.headers().contains_key("origin");
            if let Some(done) = cors::preflight(request.method(), request.headers()) {
                return Ok::<_, Infallible>(done);
            }
            let mut response = answer(request).await;
            cors::allow(origin, response.headers_mut());
            Ok(response)
        }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN)
        .keep_alive(keep);
    let connection = http.serve_connection(TokioIo::new(stream), service);
    if keep {
        return long(connection.with_upgrades(), stop).await;
    }
    let one = async {
        match tokio::time::timeout(REQUEST_WITHIN, connection.without_shutdown()).await {
            Ok(Ok(parts)) => linger(parts.io.into_inner()).await,
            Ok(Err(e)) => tracing::debug!("a connection ended early: {e}"),
            Err(_) => tracing::debug!("a request took more than {REQUEST_WITHIN:?}"),
        }
    };
    tokio::pin!(one);
    tokio::select! {
        _ = one.as_mut() => {}
        _ = asked(&mut stop) => drop(tokio::time::timeout(AT_STOP, one).await),
    }
}

async fn long<I, S>(connection: UpgradeableConnection<I, S>, mut stop: watch::Receiver<bool>)
where
    S: HttpService<Incoming, ResBody = Body> + 'static,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    I: Read + Write + Unpin + Send + 'static,
{
    tokio::pin!(connection);
    tokio::select! {
        done = connection.as_mut() => if let Err(e) = done {
            tracing::debug!("a connection ended early: {e}");
        },
        _ = asked(&mut stop) => {
            connection.as_mut().graceful_shutdown();
            let _ = tokio::time::timeout(AT_STOP, connection).await;
        }
    }
}

/// Reads what the client still sends, within bounds: closing before would make the system throw
/// the answer away under its hands.
async fn linger<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S) {
    let rest = async {
        let _ = stream.shutdown().await;
        let mut rest = [0; 4096];
        for _ in 0..MAX_REST / rest.len() {
            if !matches!(stream.read(&mut rest).await, Ok(n) if n > 0) {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(REST_WITHIN, rest).await;
}
