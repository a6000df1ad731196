//! Files that requests point to: `file://` and `http(s)://`, guarded and bounded.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::http::{Request, Uri};
use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Limited};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::error::{ApiError, ApiResult};
use crate::{guard, tls};

const MAX: usize = 512 << 20;
const WITHIN: Duration = Duration::from_secs(120);
const CONNECT_WITHIN: Duration = Duration::from_secs(10);

pub struct Fetch {
    /// `file://` addresses may lead anywhere, not only into the upload folder.
    pub external_files: bool,
    pub private_net: bool,
    pub uploads: PathBuf,
}

impl Fetch {
    pub async fn text(&self, address: &str) -> ApiResult<String> {
        let data = self.bytes(address).await?;
        String::from_utf8(data.into())
            .map_err(|_| ApiError::bad(format!("{address} holds no UTF-8 text")))
    }

    pub async fn bytes(&self, address: &str) -> ApiResult<Bytes> {
        let fault = |why: String| ApiError::bad(format!("{address:?} cannot be read: {why}"));
        if address.is_empty() {
            return Err(ApiError::bad(
                "no file is given, expected file:// or http(s)://",
            ));
        }
        if let Some(path) = address.strip_prefix("file://") {
            return self.file(Path::new(path)).await.map_err(fault);
        }
        if address.starts_with("http://") || address.starts_with("https://") {
            return match tokio::time::timeout(WITHIN, self.http(address)).await {
                Ok(result) => result.map_err(fault),
                Err(_) => Err(fault(format!("it took more than {WITHIN:?}"))),
            };
        }
        Err(fault(
            "expected an address that begins with file://, http:// or https://".into(),
        ))
    }

    async fn file(&self, path: &Path) -> Result<Bytes, String> {
        // Links and '..' are followed first, so that they cannot lead out of the folder.
        let real = tokio::fs::canonicalize(path)
            .await
            .map_err(|e| e.to_string())?;
        if !self.external_files {
            let uploads = tokio::fs::canonicalize(&self.uploads)
                .await
                .map_err(|e| e.to_string())?;
            if !real.starts_with(&uploads) {
                let hint = "set basic.allowExternalFileAccess to allow it";
                return Err(format!("it lies outside of the upload folder; {hint}"));
            }
        }
        let about = tokio::fs::metadata(&real)
            .await
            .map_err(|e| e.to_string())?;
        if !about.is_file() {
            return Err("it is not a plain file".into());
        }
        if about.len() > MAX as u64 {
            return Err(format!("it has more than {MAX} bytes"));
        }
        tokio::fs::read(&real)
            .await
            .map(Bytes::from)
            .map_err(|e| e.to_string())
    }

    async fn http(&self, address: &str) -> Result<Bytes, String> {
        let uri: Uri = address
            .parse()
            .map_err(|e| format!("it is no address: {e}"))?;
        let host = uri
            .host()
            .ok_or("it has no host")?
            .trim_matches(['[', ']'])
            .to_owned();
        let secure = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let stream = self.connect(&host, port).await?;
        if !secure {
            return exchange(stream, &uri).await;
        }
        let name = ServerName::try_from(host).map_err(|e| e.to_string())?;
        let stream = connector()?
            .connect(name, stream)
            .await
            .map_err(|e| e.to_string())?;
        exchange(stream, &uri).await
    }

    /// Connects to an address that was checked, never to one that is looked up a second time.
    async fn connect(&self, host: &str, port: u16) -> Result<TcpStream, String> {
        let found = tokio::net::lookup_host((host, port))
            .await
            .map_err(|e| e.to_string())?;
        let mut last = "the name has no address".to_owned();
        for address in found.collect::<Vec<SocketAddr>>() {
            if !self.private_net
                && let Err(why) = guard::check(address.ip())
            {
                last = format!("dial tcp {address}: {why}");
                continue;
            }
            match tokio::time::timeout(CONNECT_WITHIN, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(e)) => last = e.to_string(),
                Err(_) => last = format!("{address} does not answer"),
            }
        }
        Err(last)
    }
}

async fn exchange<S>(stream: S, uri: &Uri) -> Result<Bytes, String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let io = TokioIo::new(stream);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(io)
        .await
        .map_err(|e| e.to_string())?;
    let driver = tokio::spawn(connection);
    let path = uri.path_and_query().map_or("/", |p| p.as_str());
    let host = uri.authority().map_or("", |a| a.as_str());
    let request = Request::get(path)
        .header("host", host)
        .header("connection", "close")
        .body(Empty::<Bytes>::new())
        .map_err(|e| e.to_string())?;
    let response = sender
        .send_request(request)
        .await
        .map_err(|e| e.to_string())?;
    if !response.status().is_success() {
        return Err(format!("the server answered {}", response.status()));
    }
    let body = Limited::new(response.into_body(), MAX)
        .collect()
        .await
        .map_err(|e| e.to_string())?;
    driver.abort();
    Ok(body.to_bytes())
}

/// Made when first used: reading the certificates of the system takes its time.
fn connector() -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::empty();
    for certificate in rustls_native_certs::load_native_certs().certs {
        let _ = roots.add(certificate);
    }
    let config = ClientConfig::builder_with_provider(tls::provider())
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
