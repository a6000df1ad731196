//! TLS of connections that we open, from the properties that all connectors share. The provider is
//! `ring`: it builds everywhere with a C compiler alone.

use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme, version};

use crate::{ConnectError, Props};

/// The properties that configure TLS.
pub const KEYS: [&str; 10] = [
    "insecureSkipVerify", "certificationPath", "privateKeyPath", "rootCaPath",
    "certificationRaw", "privateKeyRaw", "rootCARaw", "tlsMinVersion", "renegotiationSupport",
    "tls",
];

/// Reads the properties; files are read now, so that a wrong path is told when the rule is made.
pub fn client_config(props: &Props) -> Result<Arc<ClientConfig>, ConnectError> {
    if !KEYS.iter().any(|key| props.get(key).is_some()) {
        return Ok(plain());
    }
    if props.get("decrypt").is_some() {
        return Err(ConnectError::config(
            "property decrypt is not supported: give the certificate and key files unencrypted",
        ));
    }
    if let Some(name) = props.str("tls")?.filter(|name| !matches!(*name, "" | "default")) {
        return Err(ConnectError::config(format!("property tls must be default, found {name}")));
    }
    let provider = Arc::new(ring::default_provider());
    let versions: &[&rustls::SupportedProtocolVersion] = match props.str_or("tlsMinVersion", "")? {
        "tls1.3" => &[&version::TLS13],
        // older ones than 1.2 are not spoken at all
        _ => &[&version::TLS13, &version::TLS12],
    };
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions)
        .map_err(|e| ConnectError::config(format!("TLS: {e}")))?;
    let builder = if props.bool("insecureSkipVerify", false)? {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(Trusting(provider)))
    } else {
        let roots = match pem(props, "rootCaPath", "rootCARaw")? {
            Some(text) => given_roots(&text)?,
            None => native_roots(),
        };
        let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider)
            .build()
            .map_err(|e| ConnectError::config(format!("TLS: no usable root certificate: {e}")))?;
        builder.with_webpki_verifier(verifier)
    };
    let certificate = pem(props, "certificationPath", "certificationRaw")?;
    let key = pem(props, "privateKeyPath", "privateKeyRaw")?;
    let (certificate, key) = match (certificate, key) {
        (None, None) => return Ok(Arc::new(builder.with_no_client_auth())),
        (Some(certificate), Some(key)) => (certificate, key),
        _ => {
            return Err(ConnectError::config(
                "TLS needs both or none of certificate (certificationPath, certificationRaw) and \
                 key (privateKeyPath, privateKeyRaw)",
            ));
        }
    };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&certificate).collect();
    let chain = chain.map_err(|e| ConnectError::config(format!("client certificate: {e}")))?;
    let key = PrivateKeyDer::from_pem_slice(&key)
        .map_err(|e| ConnectError::config(format!("private key: {e}")))?;
    let config = builder
        .with_client_auth_cert(chain, key)
        .map_err(|e| ConnectError::config(format!("client certificate: {e}")))?;
    Ok(Arc::new(config))
}

/// TLS without any property set; made once, as reading the system's roots takes time.
fn plain() -> Arc<ClientConfig> {
    static PLAIN: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    PLAIN
        .get_or_init(|| {
            let provider = Arc::new(ring::default_provider());
            let builder = ClientConfig::builder_with_provider(provider.clone())
                .with_protocol_versions(&[&version::TLS13, &version::TLS12]);
            let verifier = WebPkiServerVerifier::builder_with_provider(native_roots(), provider);
            match (builder, verifier.build()) {
                (Ok(builder), Ok(verifier)) => {
                    Arc::new(builder.with_webpki_verifier(verifier).with_no_client_auth())
                }
                // a system without root certificates: every handshake fails and says so
                _ => Arc::new(
                    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
                        .with_safe_default_protocol_versions()
                        .map(|b| b.with_root_certificates(RootCertStore::empty()))
                        .map(|b| b.with_no_client_auth())
                        .expect("the provider speaks the default versions"),
                ),
            }
        })
        .clone()
}

fn native_roots() -> Arc<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    Arc::new(roots)
}

fn given_roots(text: &[u8]) -> Result<Arc<RootCertStore>, ConnectError> {
    let mut roots = RootCertStore::empty();
    for root in CertificateDer::pem_slice_iter(text) {
        let root = root.map_err(|e| ConnectError::config(format!("root certificate: {e}")))?;
        roots.add(root).map_err(|e| ConnectError::config(format!("root certificate: {e}")))?;
    }
    Ok(Arc::new(roots))
}

/// PEM text of a file, or of base64 where no path is given.
fn pem(props: &Props, path: &str, raw: &str) -> Result<Option<Vec<u8>>, ConnectError> {
    let name = props.str_or(path, "")?;
    if !name.is_empty() {
        let text = std::fs::read(name);
        return text.map(Some).map_err(|e| ConnectError::config(format!("{path} {name}: {e}")));
    }
    match props.str_or(raw, "")? {
        "" => Ok(None),
        text => base64::engine::general_purpose::STANDARD
            .decode(text)
            .map(Some)
            .map_err(|e| ConnectError::config(format!("property {raw} must be base64: {e}"))),
    }
}

/// `insecureSkipVerify`: any certificate will do, as the user asked.
#[derive(Debug)]
struct Trusting(Arc<CryptoProvider>);

impl ServerCertVerifier for Trusting {
    fn verify_server_cert(
        &self,
        _end: &CertificateDer<'_>,
        _chain: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
