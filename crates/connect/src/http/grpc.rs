//! Calls of gRPC methods: unary, without TLS, one kept HTTP/2 connection for all calls.
//!
//! What a message means is none of its business: encoded bytes go in and come out.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{BufMut, Bytes, BytesMut};
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, TE};
use http::uri::Authority;
use http::{Method, Request, Response, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper::rt::Executor;
use hyper_util::rt::TokioIo;
use rekuiper_rt::task::{self, Task};

use super::client::{ANSWER_BYTES_MAX, dial};
use crate::{ConnectError, Services};

/// A flag and the length stand before each message.
const HEAD: usize = 5;
/// The status that asks to come again.
const UNAVAILABLE: u32 = 14;

/// See the module's doc.
pub struct GrpcClient {
    authority: Authority,
    kept: Mutex<Option<Link>>,
}

#[derive(Clone)]
struct Link {
    sender: SendRequest<Full<Bytes>>,
    _driver: Arc<Task>,
}

/// Where hyper's work on a connection runs.
#[derive(Clone)]
struct Tasks;

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Tasks {
    fn execute(&self, work: F) {
        task::spawn("http2 stream", work).detach();
    }
}

impl GrpcClient {
    /// `tcp://host:port`, `http://host:port` or `host:port`.
    pub fn new(address: &str) -> Result<Self, ConnectError> {
        let wrong =
            |why: &str| ConnectError::config(format!("address {address} of a grpc service: {why}"));
        let place = match address.split_once("://") {
            Some(("tcp" | "http" | "grpc", place)) => place,
            Some(_) => return Err(wrong("expected tcp:// or http://, it is called without TLS")),
            None => address,
        };
        let authority: Result<Authority, _> = place.trim_end_matches('/').parse();
        match authority {
            Ok(authority) if authority.port_u16().is_some() && !authority.host().is_empty() => {
                Ok(GrpcClient { authority, kept: Mutex::default() })
            }
            _ => Err(wrong("expected host:port")),
        }
    }

    /// Calls the method at `path` (`/package.Service/Method`) with an encoded message.
    pub async fn call(
        &self,
        services: &Services,
        path: &str,
        message: &[u8],
        timeout_ms: i64,
    ) -> Result<Bytes, ConnectError> {
        tokio::select! {
            done = self.exchange(services, path, message) => done,
            () = services.clock.sleep_ms(timeout_ms) => Err(ConnectError::io(format!(
                "{}{path}: no answer within {timeout_ms} ms", self.authority
            ))),
        }
    }

    async fn exchange(
        &self,
        services: &Services,
        path: &str,
        message: &[u8],
    ) -> Result<Bytes, ConnectError> {
        let failed = |e: hyper::Error| ConnectError::io(format!("{}{path}: {e}", self.authority));
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(mut link) = kept.filter(|link| !link.sender.is_closed())
            && link.sender.ready().await.is_ok()
        {
            match link.sender.try_send_request(self.request(path, message)?).await {
                Ok(response) => return self.answer(link, path, response).await,
                // it was never sent, so sending it again cannot double it
                Err(e) if e.message().is_some() => {}
                Err(e) => return Err(failed(e.into_error())),
            }
        }
        let mut link = self.connect(services).await?;
        let response = link.sender.send_request(self.request(path, message)?).await;
        self.answer(link, path, response.map_err(failed)?).await
    }

    async fn connect(&self, services: &Services) -> Result<Link, ConnectError> {
        let host = self.authority.host().trim_start_matches('[').trim_end_matches(']');
        let port = self.authority.port_u16().unwrap_or_default();
        let tcp = dial(services, host, port).await?;
        let made = handshake(Tasks, TokioIo::new(tcp)).await;
        let (sender, connection) =
            made.map_err(|e| ConnectError::io(format!("{}: {e}", self.authority)))?;
        let driver = task::spawn("grpc connection", async { drop(connection.await) });
        Ok(Link { sender, _driver: Arc::new(driver) })
    }

    fn request(&self, path: &str, message: &[u8]) -> Result<Request<Full<Bytes>>, ConnectError> {
        let wrong = |e: http::Error| ConnectError::config(format!("{}{path}: {e}", self.authority));
        let length = u32::try_from(message.len())
            .map_err(|_| ConnectError::data("a grpc message must be shorter than 4 GiB"))?;
        let mut body = BytesMut::with_capacity(HEAD + message.len());
        body.put_u8(0); // not compressed
        body.put_u32(length);
        body.put_slice(message);
        let uri = Uri::builder().scheme("http").authority(self.authority.clone());
        let uri = uri.path_and_query(path).build().map_err(wrong)?;
        Request::builder()
            .method(Method::POST)
            .uri(uri)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/grpc"))
            .header(TE, HeaderValue::from_static("trailers"))
            .body(Full::new(body.freeze()))
            .map_err(wrong)
    }

    async fn answer(
        &self,
        link: Link,
        path: &str,
        response: Response<Incoming>,
    ) -> Result<Bytes, ConnectError> {
        let place = format!("{}{path}", self.authority);
        let (head, body) = response.into_parts();
        if !head.status.is_success() {
            return Err(ConnectError::data(format!("{place} answered {}", head.status)));
        }
        let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
        let body = body.map_err(|e| ConnectError::io(format!("{place}: {e}")))?;
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(link);
        // an answer without message has its status among the headers
        let trailers = body.trailers().unwrap_or(&head.headers);
        good_status(&place, trailers)?;
        message(body.to_bytes())
            .ok_or_else(|| ConnectError::data(format!("{place}: the answer is no grpc message")))
    }
}

fn good_status(place: &str, trailers: &HeaderMap) -> Result<(), ConnectError> {
    let text = |name: &str| trailers.get(name).and_then(|v| v.to_str().ok());
    let code = text("grpc-status").and_then(|t| t.parse::<u32>().ok());
    let why = text("grpc-message").map(unescaped).unwrap_or_default();
    match code {
        Some(0) => Ok(()),
        Some(UNAVAILABLE) => Err(ConnectError::io(format!("{place}: unavailable: {why}"))),
        Some(code) => Err(ConnectError::data(format!("{place}: grpc status {code}: {why}"))),
        None => Err(ConnectError::data(format!("{place}: the answer has no grpc status"))),
    }
}

/// The one message of an answer.
fn message(body: Bytes) -> Option<Bytes> {
    let (head, rest) = body.split_first_chunk::<HEAD>()?;
    let [0, length @ ..] = head else { return None };
    let length = u32::from_be_bytes(*length) as usize;
    (rest.len() == length).then(|| body.slice(HEAD..))
}

/// `%41` is `A`.
fn unescaped(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let [b, behind @ ..] = rest {
        let digits = behind.get(..2).filter(|_| *b == b'%');
        let digits = digits.and_then(|d| std::str::from_utf8(d).ok());
        match digits.and_then(|d| u8::from_str_radix(d, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                rest = &behind[2..];
            }
            None => {
                out.push(*b);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use http_body_util::StreamBody;
    use hyper::body::Frame;
    use hyper::service::service_fn;
    use rekuiper_rt::Clock;
    use tokio::net::TcpListener;
    use tokio::sync::Notify;

    use super::*;
    use crate::Fault;

    /// Gives each message back, but for those that ask for something else.
    async fn echo(
        request: Request<Incoming>,
    ) -> Result<Response<impl hyper::body::Body<Data = Bytes, Error = Infallible>>, Infallible>
    {
        let path = request.uri().path().to_owned();
        let typ = request.headers()[CONTENT_TYPE].clone();
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let mut trailers = HeaderMap::new();
        let (status, why, bytes) = match &body[HEAD..] {
            b"bad" => ("3", "caf%C3%A9 100%", Bytes::new()),
            b"later" => ("14", "", Bytes::new()),
            b"cut" => ("0", "", body.slice(..body.len() - 1)),
            b"path" => {
                let mut framed = vec![0, 0, 0, 0, path.len() as u8];
                framed.extend_from_slice(path.as_bytes());
                ("0", "", framed.into())
            }
            b"none" => return Ok(Response::new(frames(Bytes::new(), HeaderMap::new()))),
            _ => ("0", "", body),
        };
        trailers.insert("grpc-status", HeaderValue::from_static(status));
        trailers.insert("grpc-message", HeaderValue::from_static(why));
        let mut response = Response::new(frames(bytes, trailers));
        response.headers_mut().insert(CONTENT_TYPE, typ);
        Ok(response)
    }

    fn frames(
        bytes: Bytes,
        trailers: HeaderMap,
    ) -> impl hyper::body::Body<Data = Bytes, Error = Infallible> {
        let all = [Ok(Frame::data(bytes)), Ok(Frame::trailers(trailers))];
        StreamBody::new(futures_util::stream::iter(all))
    }

    /// Serves `uses` calls a connection.
    async fn server(uses: usize) -> (String, Task) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap().to_string();
        let serving = task::spawn("grpc test server", async move {
            while let Ok((tcp, _)) = listener.accept().await {
                let full = Arc::new(Notify::new());
                let (tell, served) = (full.clone(), AtomicUsize::new(0));
                let service = service_fn(move |request| {
                    if served.fetch_add(1, Relaxed) + 1 == uses {
                        tell.notify_one();
                    }
                    echo(request)
                });
                let builder = hyper::server::conn::http2::Builder::new(Tasks);
                let mut connection =
                    std::pin::pin!(builder.serve_connection(TokioIo::new(tcp), service));
                tokio::select! {
                    _ = connection.as_mut() => {}
                    () = full.notified() => {
                        connection.as_mut().graceful_shutdown();
                        let _ = connection.await;
                    }
                }
            }
        });
        (at, serving)
    }

    fn services(private: bool) -> Arc<Services> {
        let services = Services::new(Clock::Real, "".into(), "".into());
        services.private_net.store(private, Relaxed);
        services
    }

    #[tokio::test]
    async fn messages_go_and_come_back() {
        let (at, _server) = server(usize::MAX).await;
        let services = services(true);
        let client = GrpcClient::new(&format!("tcp://{at}")).unwrap();
        let big = vec![7; 100_000];
        for message in [&b""[..], b"hello", &big, b"hello"] {
            let got = client.call(&services, "/p.S/M", message, 5_000).await.unwrap();
            assert_eq!(&got[..], message);
        }
        let path = client.call(&services, "/p.S/M", b"path", 5_000).await.unwrap();
        assert_eq!(&path[..], b"/p.S/M");
        let fails = async |message: &[u8]| {
            client.call(&services, "/p.S/M", message, 5_000).await.unwrap_err()
        };
        let bad = fails(b"bad").await;
        assert!(bad.text.ends_with("grpc status 3: caf\u{e9} 100%"), "{bad}");
        assert_eq!(bad.fault, Fault::Data);
        assert_eq!(fails(b"later").await.fault, Fault::Io);
        assert!(fails(b"cut").await.text.contains("no grpc message"));
        assert!(fails(b"none").await.text.contains("no grpc status"));
        // and it goes on
        assert!(client.call(&services, "/p.S/M", b"x", 5_000).await.is_ok());
    }

    #[tokio::test]
    async fn a_connection_that_was_closed_is_made_anew() {
        let (at, _server) = server(1).await;
        let (services, client) = (services(true), GrpcClient::new(&at).unwrap());
        for n in 0..5 {
            let message = format!("message {n}");
            let got = client.call(&services, "/p.S/M", message.as_bytes(), 5_000).await.unwrap();
            assert_eq!(&got[..], message.as_bytes());
        }
    }

    #[tokio::test]
    async fn inner_addresses_are_guarded_and_odd_ones_refused() {
        let (at, _server) = server(9).await;
        let client = GrpcClient::new(&format!("http://{at}")).unwrap();
        let error = client.call(&services(false), "/p.S/M", b"", 5_000).await.unwrap_err();
        assert!(error.text.contains("internal network"), "{error}");
        let quiet = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = GrpcClient::new(&quiet.local_addr().unwrap().to_string()).unwrap();
        let error = client.call(&services(true), "/p.S/M", b"", 50).await.unwrap_err();
        assert!(error.text.contains("within 50 ms"), "{error}");
        for bad in ["https://a:1", "tcp://a", "", "a:b", "tcp://:1", "tcp://a:1/x"] {
            assert!(GrpcClient::new(bad).is_err(), "{bad}");
        }
    }
}
