//! AES-GCM: nonce of 12 bytes, ciphertext, tag of 16 bytes.

use aes::cipher::consts::U12;
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::aead::{Aead, Payload};
use aes_gcm::{AesGcm, KeyInit, Nonce};
use rekuiper_value::{Error, Result};

use super::{GcmProps, check_key, random};

const NONCE: usize = 12;

fn cipher(key: &[u8], run: impl FnOnce(&dyn Sealed) -> Option<Vec<u8>>) -> Result<Vec<u8>> {
    check_key(key)?;
    let bad = || Error::new("the AES key does not fit");
    let done = match key.len() {
        16 => run(&AesGcm::<Aes128, U12>::new_from_slice(key).map_err(|_| bad())?),
        24 => run(&AesGcm::<Aes192, U12>::new_from_slice(key).map_err(|_| bad())?),
        _ => run(&AesGcm::<Aes256, U12>::new_from_slice(key).map_err(|_| bad())?),
    };
    done.ok_or_else(|| {
        Error::new("cipher: message authentication failed: wrong key, aad, or a damaged message")
    })
}

trait Sealed {
    fn seal(&self, nonce: &[u8; NONCE], payload: Payload<'_, '_>) -> Option<Vec<u8>>;
    fn open(&self, nonce: &[u8; NONCE], payload: Payload<'_, '_>) -> Option<Vec<u8>>;
}

impl<A: Aead<NonceSize = U12>> Sealed for A {
    fn seal(&self, nonce: &[u8; NONCE], payload: Payload<'_, '_>) -> Option<Vec<u8>> {
        self.encrypt(Nonce::from_slice(nonce), payload).ok()
    }

    fn open(&self, nonce: &[u8; NONCE], payload: Payload<'_, '_>) -> Option<Vec<u8>> {
        self.decrypt(Nonce::from_slice(nonce), payload).ok()
    }
}

pub fn encrypt(key: &[u8], props: &GcmProps, data: &[u8]) -> Result<Vec<u8>> {
    let nonce = match props.iv {
        Some(iv) => iv,
        None => random()?,
    };
    let payload = Payload { msg: data, aad: &props.aad };
    let mut sealed = cipher(key, |c| c.seal(&nonce, payload))?;
    sealed.splice(0..0, nonce);
    sealed.resize(sealed.len() + props.tag_size.saturating_sub(16), 0);
    Ok(sealed)
}

pub fn decrypt(key: &[u8], props: &GcmProps, data: &[u8]) -> Result<Vec<u8>> {
    let filled = props.tag_size.saturating_sub(16);
    let Some((nonce, sealed)) = data.split_first_chunk::<NONCE>() else {
        return Err(Error::new(
            "encrypted message is too short: it must start with 12 bytes nonce",
        ));
    };
    let sealed = sealed.get(..sealed.len().saturating_sub(filled)).unwrap_or(&[]);
    cipher(key, |c| c.open(nonce, Payload { msg: sealed, aad: &props.aad }))
}
