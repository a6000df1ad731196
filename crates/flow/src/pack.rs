//! Compression and encryption of payloads, as the properties of a sink ask.

use rekuiper_connect::{ConnectError, Props};
use rekuiper_formats::codec::aes::{Aes, GcmProps, Mode};
use rekuiper_formats::codec::{Compression, CompressionProps};
use rekuiper_value::Error;

use crate::spec::FlowCatalog;

/// What is done to each encoded payload.
pub struct Pack {
    compression: Option<(Compression, CompressionProps)>,
    cipher: Option<Aes>,
}

impl Pack {
    /// `None` where payloads stay as they are; `key` comes from [`key`].
    pub fn new(props: &Props, key: Option<&[u8]>) -> Result<Option<Pack>, ConnectError> {
        let compression = compression(props)?;
        let cipher = key.map(|key| cipher(props, key)).transpose()?;
        let any = compression.is_some() || cipher.is_some();
        Ok(any.then_some(Pack { compression, cipher }))
    }

    /// Packs what stands in the buffer from `start` on.
    pub fn run(&self, start: usize, buf: &mut Vec<u8>) -> Result<(), Error> {
        if let Some((compression, props)) = &self.compression {
            let plain = buf.split_off(start);
            compression.compress(&plain, *props, buf)?;
        }
        if let Some(cipher) = &self.cipher {
            let plain = buf.split_off(start);
            buf.extend_from_slice(&cipher.encrypt(&plain)?);
        }
        Ok(())
    }
}

/// The key that the property `encryption` asks for.
pub fn key(props: &Props, catalog: &dyn FlowCatalog) -> Result<Option<Vec<u8>>, ConnectError> {
    let (name, missing) = match props.str_or("encryption", "")? {
        "" => return Ok(None),
        name @ "aes" => (name, "AES Key is not defined: set basic.aesKey"),
        name @ "default" => {
            (name, "encryption default is not defined: set security.encryption, with a key")
        }
        name => {
            return Err(ConnectError::config(format!(
                "encryption {name} is not known: expected aes or default"
            )));
        }
    };
    match catalog.encryption_key(name) {
        Some(key) => Ok(Some(key)),
        None => Err(ConnectError::config(missing)),
    }
}

fn compression(props: &Props) -> Result<Option<(Compression, CompressionProps)>, ConnectError> {
    let name = props.str_or("compression", "")?;
    if name.is_empty() {
        return Ok(None);
    }
    let of_it = Props::new(props.map("compressionProps")?);
    let window_size = u64::try_from(of_it.int("windowSize", 0)?).map_err(|_| {
        ConnectError::config("compressionProps windowSize must not be negative")
    })?;
    Compression::by_name(name)
        .map(|c| Some((c, CompressionProps { window_size })))
        .map_err(|e| ConnectError::config(e.to_string()))
}

fn cipher(props: &Props, key: &[u8]) -> Result<Aes, ConnectError> {
    let own = Props::new(props.map("encProps")?);
    let bytes = |key: &str| -> Result<Vec<u8>, ConnectError> {
        let text = own.str_or(key, "")?;
        rekuiper_value::cast::base64_decode(text)
            .ok_or_else(|| ConnectError::config(format!("encProps {key} is no base64")))
    };
    let iv = match bytes("iv")? {
        none if none.is_empty() => None,
        iv => Some(iv.try_into().map_err(|iv: Vec<u8>| {
            let n = iv.len();
            ConnectError::config(format!("encProps iv must be base64 of 12 bytes, not of {n}"))
        })?),
    };
    let mode = match own.str_or("mode", "gcm")? {
        "gcm" => Mode::Gcm(GcmProps {
            iv,
            aad: bytes("aad")?,
            tag_size: usize::try_from(own.int("tagsize", 0)?).unwrap_or(usize::MAX),
        }),
        "cfb" => Mode::Cfb,
        other => {
            return Err(ConnectError::config(format!("encryption mode {other} is not known")));
        }
    };
    Aes::new(key, mode).map_err(|e| ConnectError::config(e.to_string()))
}
