//! TLS of the listeners. One provider of cryptography: `ring`.

use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// An acceptor for a certificate chain and its key, both PEM files.
pub fn acceptor((cert, key): &(String, String)) -> Result<TlsAcceptor, String> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect)
        .map_err(|e| format!("certfile {cert:?} cannot be read: {e}"))?;
    let key = PrivateKeyDer::from_pem_file(key)
        .map_err(|e| format!("keyfile {key:?} cannot be read: {e}"))?;
    let config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|e| format!("certificate and key do not fit: {e}"))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
