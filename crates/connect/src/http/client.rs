//! Requests over kept connections. Names are resolved here, each address is checked by the guard,
//! and the connection goes to the very address that was checked.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderValue};
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rekuiper_rt::task::{self, Task};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::guard::is_private;
use crate::{ConnectError, Services};

/// Largest answer that is read.
pub const ANSWER_BYTES_MAX: usize = 64 << 20;

const REDIRECTS_MAX: usize = 10;

/// Connections kept for the next request.
const IDLE_MAX: usize = 4;

/// A request.
#[derive(Clone, Debug)]
pub struct Call {
    pub method: Method,
    pub url: Uri,
    pub headers: HeaderMap,
    pub body: Bytes,
}

pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// See the module's doc.
pub struct HttpClient {
    tls: Arc<ClientConfig>,
    idle: Mutex<Vec<Link>>,
}

#[derive(Clone, PartialEq, Eq)]
struct Origin {
    tls: bool,
    host: String,
    port: u16,
}

struct Link {
    origin: Origin,
    sender: SendRequest<Full<Bytes>>,
    _driver: Task,
}

impl HttpClient {
    pub fn new(tls: Arc<ClientConfig>) -> Self {
        HttpClient { tls, idle: Mutex::default() }
    }

    /// Sends and reads the whole answer, within `timeout_ms`; follows redirects.
    pub async fn send(
        &self,
        services: &Services,
        call: Call,
        timeout_ms: i64,
    ) -> Result<Answer, ConnectError> {
        let url = call.url.clone();
        tokio::select! {
            done = self.follow(services, call) => done,
            () = services.clock.sleep_ms(timeout_ms) => Err(ConnectError::io(format!(
                "{url}: no answer within {timeout_ms} ms (property timeout)"
            ))),
        }
    }

    async fn follow(&self, services: &Services, mut call: Call) -> Result<Answer, ConnectError> {
        for _ in 0..=REDIRECTS_MAX {
            let answer = self.once(services, &call).await?;
            match redirected(&call, &answer)? {
                Some(next) => call = next,
                None => return Ok(answer),
            }
        }
        Err(ConnectError::data(format!("{}: more than {REDIRECTS_MAX} redirects", call.url)))
    }

    async fn once(&self, services: &Services, call: &Call) -> Result<Answer, ConnectError> {
        let origin = Origin::of(&call.url)?;
        let failed = |e: hyper::Error| ConnectError::io(format!("{}: {}", call.url, cause(&e)));
        let mut kept = self.take_idle(&origin);
        loop {
            let reused = kept.is_some();
            let mut link = match kept.take() {
                Some(link) => link,
                None => self.connect(services, origin.clone()).await?,
            };
            if let Err(e) = link.sender.ready().await {
                match reused {
                    true => continue, // closed by the peer while it was idle
                    false => return Err(failed(e)),
                }
            }
            match link.sender.try_send_request(request(call)?).await {
                Ok(response) => return self.answer(call, response, link).await,
                // it was never sent, so sending it again cannot double it
                Err(e) if reused && e.message().is_some() => {}
                Err(e) => return Err(failed(e.into_error())),
            }
        }
    }

    async fn answer(
        &self,
        call: &Call,
        response: Response<Incoming>,
        link: Link,
    ) -> Result<Answer, ConnectError> {
        let (head, body) = response.into_parts();
        let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
        let body = body.map_err(|e| ConnectError::io(format!("{}: {e}", call.url)))?.to_bytes();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_MAX && !link.sender.is_closed() {
            idle.push(link);
        }
        Ok(Answer { status: head.status, headers: head.headers, body })
    }

    fn take_idle(&self, origin: &Origin) -> Option<Link> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|link| !link.sender.is_closed());
        let at = idle.iter().position(|link| link.origin == *origin)?;
        Some(idle.swap_remove(at))
    }

    async fn connect(&self, services: &Services, origin: Origin) -> Result<Link, ConnectError> {
        let tcp = dial(services, &origin.host, origin.port).await?;
        let place = format!("{}:{}", origin.host, origin.port);
        let failed = |e: hyper::Error| ConnectError::io(format!("{place}: {}", cause(&e)));
        let (sender, driver) = if origin.tls {
            let name = ServerName::try_from(origin.host.clone())
                .map_err(|e| ConnectError::config(format!("{place}: {e}")))?;
            let stream = TlsConnector::from(self.tls.clone()).connect(name, tcp).await;
            let stream = stream.map_err(|e| ConnectError::io(format!("{place}: TLS: {e}")))?;
            let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(failed)?;
            (sender, task::spawn("http connection", async { drop(connection.await) }))
        } else {
            let (sender, connection) = handshake(TokioIo::new(tcp)).await.map_err(failed)?;
            (sender, task::spawn("http connection", async { drop(connection.await) }))
        };
        Ok(Link { origin, sender, _driver: driver })
    }
}

/// Opens a connection to a name whose address the guard lets pass.
pub async fn dial(services: &Services, host: &str, port: u16) -> Result<TcpStream, ConnectError> {
    let found = tokio::net::lookup_host((host, port)).await;
    let found = found.map_err(|e| ConnectError::io(format!("cannot resolve {host}: {e}")))?;
    let mut last = ConnectError::io(format!("{host} has no address"));
    for address in found {
        if !services.allows_private_net() && is_private(address.ip()) {
            last = refused(address);
            continue;
        }
        match TcpStream::connect(address).await {
            Ok(tcp) => {
                let _ = tcp.set_nodelay(true);
                return Ok(tcp);
            }
            Err(e) => last = ConnectError::io(format!("dial tcp {address}: {e}")),
        }
    }
    Err(last)
}

fn refused(address: SocketAddr) -> ConnectError {
    ConnectError::config(format!(
        "dial tcp {address}: ip {} is in internal network; basic.enablePrivateNet allows it",
        address.ip()
    ))
}

impl Origin {
    fn of(url: &Uri) -> Result<Origin, ConnectError> {
        let tls = match url.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => {
                return Err(ConnectError::config(format!(
                    "url {url} must begin with http:// or https://"
                )));
            }
        };
        let host = url.host().unwrap_or_default();
        if host.is_empty() {
            return Err(ConnectError::config(format!("url {url} names no host")));
        }
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = url.port_u16().unwrap_or(if tls { 443 } else { 80 });
        Ok(Origin { tls, host, port })
    }
}

fn request(call: &Call) -> Result<Request<Full<Bytes>>, ConnectError> {
    let failed = |e: http::Error| ConnectError::data(format!("{}: {e}", call.url));
    let target = call.url.path_and_query().map_or("/", |p| p.as_str());
    let mut request = Request::builder()
        .method(call.method.clone())
        .uri(target)
        .body(Full::new(call.body.clone()))
        .map_err(failed)?;
    let headers = request.headers_mut();
    *headers = call.headers.clone();
    let authority = call.url.authority().map_or("", |a| a.as_str());
    let (user, host) = authority.rsplit_once('@').map_or(("", authority), |(u, h)| (u, h));
    let value = |text: &str| {
        HeaderValue::from_str(text)
            .map_err(|e| ConnectError::data(format!("{}: header value: {e}", call.url)))
    };
    if !headers.contains_key(header::HOST) {
        headers.insert(header::HOST, value(host)?);
    }
    if !user.is_empty() && !headers.contains_key(header::AUTHORIZATION) {
        use base64::Engine as _;
        let basic = base64::engine::general_purpose::STANDARD.encode(user);
        headers.insert(header::AUTHORIZATION, value(&format!("Basic {basic}"))?);
    }
    if !headers.contains_key(header::USER_AGENT) {
        headers.insert(header::USER_AGENT, HeaderValue::from_static("rekuiper"));
    }
    Ok(request)
}

/// The request that a redirect asks for.
fn redirected(call: &Call, answer: &Answer) -> Result<Option<Call>, ConnectError> {
    let keeps_method = match answer.status.as_u16() {
        301..=303 => false,
        307 | 308 => true,
        _ => return Ok(None),
    };
    let Some(to) = answer.headers.get(header::LOCATION).and_then(|v| v.to_str().ok()) else {
        return Ok(None);
    };
    let wrong = || ConnectError::data(format!("{}: redirected to {to:?}, no address", call.url));
    let url = if to.contains("://") {
        to.parse::<Uri>().map_err(|_| wrong())?
    } else {
        let mut parts = call.url.clone().into_parts();
        let path = match to.starts_with('/') {
            true => to.to_owned(),
            false => {
                let base = call.url.path();
                let folder = base.rfind('/').map_or("/", |at| &base[..=at]);
                format!("{folder}{to}")
            }
        };
        parts.path_and_query = Some(path.parse().map_err(|_| wrong())?);
        Uri::from_parts(parts).map_err(|_| wrong())?
    };
    let mut next = Call { url, ..call.clone() };
    if !keeps_method && call.method != Method::HEAD {
        next.method = Method::GET;
        next.body = Bytes::new();
        next.headers.remove(header::CONTENT_TYPE);
    }
    if next.url.authority() != call.url.authority() {
        // what proves who we are is for the first peer alone
        for secret in [header::AUTHORIZATION, header::COOKIE, header::HOST] {
            next.headers.remove(secret);
        }
    }
    Ok(Some(next))
}

/// The innermost cause, which is what people can act on.
fn cause(e: &hyper::Error) -> String {
    match std::error::Error::source(e) {
        Some(inner) => format!("{e}: {inner}"),
        None => e.to_string(),
    }
}
