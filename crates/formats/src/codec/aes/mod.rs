//! Encryption aes: GCM for messages, CFB for files and where asked for.

mod cfb;
mod gcm;

use rekuiper_value::{Error, Result};

pub use cfb::CfbWriter;

/// The mode; messages default to gcm, files are always cfb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    Gcm(GcmProps),
    Cfb,
}

/// Settings of gcm, decoded from base64 already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GcmProps {
    /// A constant nonce of 12 bytes; none: a random one each time.
    pub iv: Option<[u8; 12]>,
    pub aad: Vec<u8>,
    /// 0 or 16; a longer tag is filled up with zeros as eKuiper does.
    pub tag_size: usize,
}

/// Key and mode of one sink or source.
#[derive(Clone)]
pub struct Aes {
    key: Vec<u8>,
    mode: Mode,
}

impl Aes {
    /// The key must have 16, 24 or 32 bytes.
    pub fn new(key: &[u8], mode: Mode) -> Result<Self> {
        check_key(key)?;
        if let Mode::Gcm(props) = &mode
            && props.tag_size != 0
            && !(16..=64).contains(&props.tag_size)
        {
            return Err(Error::new(format!(
                "tagsize {} is not supported: leave it out or use 16",
                props.tag_size
            )));
        }
        Ok(Aes { key: key.to_vec(), mode })
    }

    /// The encrypted payload: nonce or IV first.
    pub fn encrypt(&self, data: &[u8]) -> Result<Vec<u8>> {
        match &self.mode {
            Mode::Gcm(props) => gcm::encrypt(&self.key, props, data),
            Mode::Cfb => cfb::encrypt(&self.key, data),
        }
    }

    pub fn decrypt(&self, data: &[u8]) -> Result<Vec<u8>> {
        match &self.mode {
            Mode::Gcm(props) => gcm::decrypt(&self.key, props, data),
            Mode::Cfb => cfb::decrypt(&self.key, data),
        }
    }
}

impl std::fmt::Debug for Aes {
    /// Never shows the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Aes").field("mode", &self.mode).finish_non_exhaustive()
    }
}

fn check_key(key: &[u8]) -> Result<()> {
    match key.len() {
        0 => Err(Error::new("AES Key is not defined: set basic.aesKey in the configuration")),
        16 | 24 | 32 => Ok(()),
        n => Err(Error::new(format!("an AES key has 16, 24 or 32 bytes, not {n}"))),
    }
}

fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(e) => Err(Error::new(format!("the system gives no random bytes: {e}"))),
    }
}
