//! What lies between the file sink and the disk: nothing, or a stream that compresses, encrypts, or
//! does both in this order.

use std::fs::File;
use std::io::{self, Write};

use rekuiper_formats::codec::aes::CfbWriter;
use rekuiper_formats::codec::{Compression, CompressionProps, Compressor};

use super::sink::write_or_undo;
use crate::{ConnectError, Props};

/// How the files of a sink are packed.
pub struct StreamCodec {
    compression: Option<Compression>,
    /// Files are encrypted with it, always in mode cfb.
    pub key: Option<Vec<u8>>,
}

impl StreamCodec {
    pub fn new(props: &Props) -> Result<Self, ConnectError> {
        let compression = match props.str_or("compression", "")? {
            "" => None,
            word => match Compression::by_name(word) {
                Ok(c) if c.for_files() => Some(c),
                _ => {
                    return Err(ConnectError::config(format!(
                        "compression of a file must be gzip or zstd, found {word}"
                    )));
                }
            },
        };
        Ok(StreamCodec { compression, key: None })
    }

    pub fn wrap(&self, file: File) -> io::Result<OutFile> {
        let other = |e: rekuiper_value::Error| io::Error::other(e.to_string());
        let props = CompressionProps::default();
        Ok(match (self.compression, &self.key) {
            (None, None) => OutFile::Plain { file, len: 0 },
            (Some(c), None) => OutFile::Packed(c.writer(file, props).map_err(other)?),
            (None, Some(key)) => OutFile::Sealed(CfbWriter::new(file, key).map_err(other)?),
            (Some(c), Some(key)) => {
                let sealed = CfbWriter::new(file, key).map_err(other)?;
                OutFile::Packed(c.writer(sealed, props).map_err(other)?)
            }
        })
    }
}

/// An open file.
pub enum OutFile {
    Plain { file: File, len: u64 },
    Packed(Box<dyn Compressor>),
    Sealed(CfbWriter<File>),
}

impl OutFile {
    /// Writes everything or, for plain files, nothing.
    pub fn write_or_undo(&mut self, parts: [&[u8]; 2]) -> io::Result<()> {
        match self {
            OutFile::Plain { file, len } => write_or_undo(file, len, parts),
            OutFile::Packed(packer) => parts.iter().try_for_each(|part| packer.write_all(part)),
            OutFile::Sealed(sealer) => parts.iter().try_for_each(|part| sealer.write_all(part)),
        }
    }

    pub fn finish(self) -> io::Result<()> {
        match self {
            OutFile::Plain { .. } => Ok(()),
            OutFile::Packed(mut packer) => packer.finish(),
            OutFile::Sealed(mut sealer) => sealer.flush(),
        }
    }
}
