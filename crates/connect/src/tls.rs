//! TLS of connections that we open, from the properties that all connectors share. The provider is
//! `ring`: it builds everywhere with a C compiler alone.

use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rekuiper_formats::codec::aes::{Aes, GcmProps, Mode};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme, version};

use crate::{ConnectError, Props};

const PEM_BEGINS: &[u8] = b"-----BEGIN";

/// The properties that configure TLS.
pub const KEYS: [&str; 11] = [
    "insecureSkipVerify",
    "certificationPath",
    "privateKeyPath",
    "rootCaPath",
    "certificationRaw",
    "privateKeyRaw",
    "rootCARaw",
    "tlsMinVersion",
    "renegotiationSupport",
    "tls",
    "decrypt",
];

/// Reads the properties; files are read now, so that a wrong path is told when the rule is made.
pub fn client_config(props: &Props) -> Result<Arc<ClientConfig>, ConnectError> {
    if !KEYS.iter().any(|key| props.get(key).is_some()) {
        return Ok(plain());
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
        let roots = match pem(props, None, "rootCaPath", "rootCARaw")? {
            Some(text) => given_roots(&text)?,
            None => native_roots(),
        };
        let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider)
            .build()
            .map_err(|e| ConnectError::config(format!("TLS: no usable root certificate: {e}")))?;
        builder.with_webpki_verifier(verifier)
    };
    let cipher = decryption(props)?;
    let certificate = pem(props, cipher.as_ref(), "certificationPath", "certificationRaw")?;
    let key = pem(props, cipher.as_ref(), "privateKeyPath", "privateKeyRaw")?;
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

/// PEM text of a file, or of base64 where no path is given; decrypted where that is asked for.
fn pem(
    props: &Props,
    cipher: Option<&Aes>,
    path: &str,
    raw: &str,
) -> Result<Option<Vec<u8>>, ConnectError> {
    let name = props.str_or(path, "")?;
    let (from, bytes) = match (name, props.str_or(raw, "")?) {
        ("", "") => return Ok(None),
        ("", text) => (
            raw.to_owned(),
            STANDARD
                .decode(text)
                .map_err(|e| ConnectError::config(format!("property {raw} must be base64: {e}")))?,
        ),
        (name, _) => (
            format!("{path} {name}"),
            std::fs::read(name).map_err(|e| ConnectError::config(format!("{path} {name}: {e}")))?,
        ),
    };
    match cipher {
        // a certificate is no secret: what can be read as it is was not encrypted
        Some(cipher) if !bytes.trim_ascii_start().starts_with(PEM_BEGINS) => {
            let plain = cipher.decrypt(&bytes);
            plain.map(Some).map_err(|e| ConnectError::config(format!("{from}: decrypt: {e}")))
        }
        _ => Ok(Some(bytes)),
    }
}

/// What the property `decrypt` says: `{algorithm, properties, key}`.
fn decryption(props: &Props) -> Result<Option<Aes>, ConnectError> {
    if props.get("decrypt").is_none() {
        return Ok(None);
    }
    let own = Props::new(props.map("decrypt")?);
    let wrong = |why: String| ConnectError::config(format!("property decrypt: {why}"));
    match own.str_or("algorithm", "aes")? {
        "aes" => {}
        other => return Err(wrong(format!("algorithm must be aes, found {other}"))),
    }
    let key = own.required("key", "property decrypt")?;
    let key = STANDARD.decode(key.trim()).map_err(|e| wrong(format!("key is no base64: {e}")))?;
    let settings = Props::new(own.map("properties")?);
    let mode = match settings.str_or("mode", "gcm")? {
        "gcm" => Mode::Gcm(GcmProps {
            iv: None, // it stands before what was encrypted
            aad: STANDARD
                .decode(settings.str_or("aad", "")?)
                .map_err(|e| wrong(format!("aad is no base64: {e}")))?,
            tag_size: usize::try_from(settings.int("tagsize", 0)?).unwrap_or(usize::MAX),
        }),
        "cfb" => Mode::Cfb,
        other => return Err(wrong(format!("mode must be gcm or cfb, found {other}"))),
    };
    Aes::new(&key, mode).map(Some).map_err(|e| wrong(e.to_string()))
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

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair};
    use serde_json::{Value as Json, json};

    use super::*;

    fn pair() -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec!["a".into()]).unwrap();
        (certificate.self_signed(&key).unwrap().pem(), key.serialize_pem())
    }

    fn config(json: Json) -> Result<(), String> {
        let Json::Object(map) = json else { panic!("an object") };
        client_config(&Props::new(map)).map(drop).map_err(|e| e.text)
    }

    #[test]
    fn encrypted_certificates_and_keys_are_decrypted() {
        let (certificate, key) = pair();
        let secret = [7; 16];
        let b64 = |bytes: &[u8]| STANDARD.encode(bytes);
        let gcm = Aes::new(&secret, Mode::Gcm(GcmProps::default())).unwrap();
        let sealed = |text: &str| b64(&gcm.encrypt(text.as_bytes()).unwrap());
        let decrypt = json!({"algorithm": "aes", "key": b64(&secret)});
        let both = json!({"certificationRaw": sealed(&certificate),
            "privateKeyRaw": sealed(&key), "decrypt": decrypt});
        assert_eq!(config(both.clone()), Ok(()));
        let mixed = json!({"certificationRaw": b64(certificate.as_bytes()),
            "privateKeyRaw": sealed(&key), "decrypt": decrypt});
        assert_eq!(config(mixed), Ok(()), "a certificate may be plain");

        let dir = std::env::temp_dir().join(format!("rekuiper-tls-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let cfb = Aes::new(&secret, Mode::Cfb).unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.join(name);
            std::fs::write(&path, cfb.encrypt(text.as_bytes()).unwrap()).unwrap();
            path
        };
        let files = json!({"certificationPath": file("c", &certificate),
            "privateKeyPath": file("k", &key),
            "decrypt": {"key": b64(&secret), "properties": {"mode": "cfb"}}});
        assert_eq!(config(files), Ok(()));
        std::fs::remove_dir_all(dir).unwrap();

        let refused = |over: Json| {
            let mut all = both.clone();
            all["decrypt"] = over;
            config(all).expect_err("refused")
        };
        assert!(refused(json!({"key": b64(&[8; 16])})).contains("decrypt"));
        assert!(refused(json!({})).contains("missing property key"));
        assert!(refused(json!({"key": b64(&[8; 3])})).contains("16, 24 or 32"));
        assert!(refused(json!({"key": "~"})).contains("base64"));
        assert!(refused(json!({"key": b64(&secret), "algorithm": "des"})).contains("found des"));
        let mode = json!({"key": b64(&secret), "properties": {"mode": "ecb"}});
        assert!(refused(mode).contains("found ecb"));
        assert!(refused(json!(7)).contains("object"));
    }
}
