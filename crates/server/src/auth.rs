//! Who may ask: tokens signed with a key whose public half lies in `etc/mgmt`.

use std::path::Path;
use std::sync::Once;

use axum::http::{HeaderValue, StatusCode};
use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey, Validation};
use ring::signature::{
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
    RsaParameters, UnparsedPublicKey,
};
use serde_json::{Map, Value};

use crate::error::{ApiError, ApiResult};

const AUDIENCE: &str = "eKuiper";
/// A token longer than this is no token.
const MAX_TOKEN: usize = 16 << 10;

fn refused(why: impl Into<String>) -> ApiError {
    ApiError::bare(StatusCode::UNAUTHORIZED, why)
}

/// Checks the header `Authorization`, which holds the bare token.
pub fn check(etc: &Path, header: Option<&HeaderValue>) -> ApiResult<()> {
    let token = header
        .map(|h| h.to_str().unwrap_or_default())
        .unwrap_or_default();
    if token.is_empty() {
        return Err(refused("missing_token"));
    }
    let claims =
        decode(etc, token).map_err(|why| refused(format!("validate token error: {why}")))?;
    let audience = match claims.get("aud") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if audience.contains(&AUDIENCE) {
        return Ok(());
    }
    let got = audience.join(" ");
    Err(refused(format!(
        "audience field should contain {AUDIENCE}, but got [{got}]"
    )))
}

fn decode(etc: &Path, token: &str) -> Result<Map<String, Value>, String> {
    provide();
    if token.len() > MAX_TOKEN || token.split('.').count() != 3 {
        return Err("token is malformed: it must have three parts".into());
    }
    let malformed = |e: Error| format!("token is malformed: {e}");
    let header = jsonwebtoken::decode_header(token).map_err(malformed)?;
    let algorithms = [Algorithm::RS256, Algorithm::RS384, Algorithm::RS512];
    if !algorithms.contains(&header.alg) {
        return Err(format!(
            "token signature is invalid: signing method {:?} is not RSA",
            header.alg
        ));
    }
    let unread: Map<String, Value> =
        jsonwebtoken::dangerous::insecure_decode_claims(token).map_err(malformed)?;
    let issuer = unread
        .get("iss")
        .and_then(Value::as_str)
        .filter(|s| !s.is_empty());
    let issuer = issuer.ok_or_else(|| unverifiable("issuer field not exist in jwt payload"))?;
    let key = key(etc, issuer)?;
    let mut validation = Validation::new(header.alg);
    validation.validate_aud = false;
    validation.validate_nbf = true;
    validation.leeway = 0;
    validation.required_spec_claims.clear();
    let claims = jsonwebtoken::decode::<Map<String, Value>>(token, &key, &validation)
        .map_err(|e| match e.kind() {
            ErrorKind::ExpiredSignature => "token has invalid claims: token is expired".to_owned(),
            ErrorKind::ImmatureSignature => {
                "token has invalid claims: token is not valid yet".to_owned()
            }
            _ => format!("token signature is invalid: {e}"),
        })?
        .claims;
    let issued = claims.get("iat").and_then(Value::as_f64).unwrap_or(0.0);
    if issued > jiff::Timestamp::now().as_second() as f64 {
        return Err("token has invalid claims: token used before issued".into());
    }
    Ok(claims)
}

fn unverifiable(why: &str) -> String {
    format!("token is unverifiable: error while executing keyfunc: {why}")
}

/// The key of an issuer. Its name must be a plain file name.
fn key(etc: &Path, issuer: &str) -> Result<DecodingKey, String> {
    let plain = issuer
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
        && !issuer.starts_with('.');
    let missing = || {
        unverifiable(&format!(
            "not found target key file {issuer:?} in /etc/mgmt"
        ))
    };
    if !plain {
        return Err(missing());
    }
    let pem = std::fs::read(etc.join("mgmt").join(issuer)).map_err(|_| missing())?;
    DecodingKey::from_rsa_pem(&pem)
        .map_err(|e| unverifiable(&format!("{issuer} is no usable key: {e}")))
}

/// RSA by `ring`, the one cryptographic library of this server.
fn provide() {
    static ONCE: Once = Once::new();
    static PROVIDER: CryptoProvider = CryptoProvider {
        signer_factory: no_signer,
        verifier_factory: verifier,
        key_utils: KeyUtils::new_unimplemented(),
    };
    ONCE.call_once(|| {
        let _ = PROVIDER.install_default();
    });
}

fn no_signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    Err(ErrorKind::UnsupportedAlgorithm.into())
}

struct Rsa {
    algorithm: Algorithm,
    parameters: &'static RsaParameters,
    key: Vec<u8>,
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    let parameters = match algorithm {
        Algorithm::RS256 => &RSA_PKCS1_2048_8192_SHA256,
        Algorithm::RS384 => &RSA_PKCS1_2048_8192_SHA384,
        Algorithm::RS512 => &RSA_PKCS1_2048_8192_SHA512,
        _ => return Err(ErrorKind::UnsupportedAlgorithm.into()),
    };
    match key.kind() {
        DecodingKeyKind::SecretOrDer(der) => Ok(Box::new(Rsa {
            algorithm: *algorithm,
            parameters,
            key: der.clone(),
        })),
        _ => Err(ErrorKind::InvalidKeyFormat.into()),
    }
}

impl signature::Verifier<Vec<u8>> for Rsa {
    fn verify(&self, message: &[u8], given: &Vec<u8>) -> Result<(), signature::Error> {
        UnparsedPublicKey::new(self.parameters, &self.key)
            .verify(message, given)
            .map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for Rsa {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
