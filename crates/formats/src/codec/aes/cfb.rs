//! AES-CFB: IV of 16 bytes, then the ciphertext.

use std::io::{self, Write};

use aes::cipher::{AsyncStreamCipher, KeyIvInit};
use aes::{Aes128, Aes192, Aes256};
use cfb_mode::{BufEncryptor, Decryptor, Encryptor};
use rekuiper_value::{Error, Result};

use super::{check_key, random};

const IV: usize = 16;

fn misfit<E>(_: E) -> Error {
    Error::new("the AES key does not fit")
}

pub fn encrypt(key: &[u8], data: &[u8]) -> Result<Vec<u8>> {
    let iv: [u8; IV] = random()?;
    let mut out = iv.to_vec();
    out.extend_from_slice(data);
    let text = &mut out[IV..];
    match key.len() {
        16 => Encryptor::<Aes128>::new_from_slices(key, &iv).map_err(misfit)?.encrypt(text),
        24 => Encryptor::<Aes192>::new_from_slices(key, &iv).map_err(misfit)?.encrypt(text),
        _ => Encryptor::<Aes256>::new_from_slices(key, &iv).map_err(misfit)?.encrypt(text),
    }
    Ok(out)
}

pub fn decrypt(key: &[u8], data: &[u8]) -> Result<Vec<u8>> {
    let Some((iv, sealed)) = data.split_first_chunk::<IV>() else {
        return Err(Error::new("encrypted message is too short: it must start with 16 bytes IV"));
    };
    let mut out = sealed.to_vec();
    match key.len() {
        16 => Decryptor::<Aes128>::new_from_slices(key, iv).map_err(misfit)?.decrypt(&mut out),
        24 => Decryptor::<Aes192>::new_from_slices(key, iv).map_err(misfit)?.decrypt(&mut out),
        _ => Decryptor::<Aes256>::new_from_slices(key, iv).map_err(misfit)?.decrypt(&mut out),
    }
    Ok(out)
}

enum Stream {
    Short(Box<BufEncryptor<Aes128>>),
    Middle(Box<BufEncryptor<Aes192>>),
    Long(Box<BufEncryptor<Aes256>>),
}

/// Encrypts a file as it is written: the IV is its first 16 bytes.
pub struct CfbWriter<W: Write> {
    to: W,
    stream: Stream,
}

impl<W: Write> CfbWriter<W> {
    pub fn new(mut to: W, key: &[u8]) -> Result<Self> {
        check_key(key)?;
        let iv: [u8; IV] = random()?;
        let stream = match key.len() {
            16 => Stream::Short(Box::new(BufEncryptor::new_from_slices(key, &iv).map_err(misfit)?)),
            24 => {
                Stream::Middle(Box::new(BufEncryptor::new_from_slices(key, &iv).map_err(misfit)?))
            }
            _ => Stream::Long(Box::new(BufEncryptor::new_from_slices(key, &iv).map_err(misfit)?)),
        };
        to.write_all(&iv).map_err(|e| Error::new(format!("cannot write the IV: {e}")))?;
        Ok(CfbWriter { to, stream })
    }

    pub fn into_inner(self) -> W {
        self.to
    }
}

impl<W: Write> Write for CfbWriter<W> {
    /// Takes everything or fails: half a write would put the cipher out of step.
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let mut sealed = data.to_vec();
        match &mut self.stream {
            Stream::Short(stream) => stream.encrypt(&mut sealed),
            Stream::Middle(stream) => stream.encrypt(&mut sealed),
            Stream::Long(stream) => stream.encrypt(&mut sealed),
        }
        self.to.write_all(&sealed)?;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
