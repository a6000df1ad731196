//! What lies between the file sink and the disk: nothing, or a compressing stream.

use std::fs::File;
use std::io::{self, Write};

use rekuiper_formats::codec::{Compression, CompressionProps, Compressor};

use super::sink::write_or_undo;
use crate::{ConnectError, Props};

/// How the files of a sink are packed.
pub struct StreamCodec {
    compression: Option<Compression>,
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
        Ok(StreamCodec { compression })
    }

    pub fn wrap(&self, file: File) -> io::Result<OutFile> {
        Ok(match self.compression {
            None => OutFile::Plain { file, len: 0 },
            Some(c) => {
                let packer = c.writer(file, CompressionProps::default());
                OutFile::Packed(packer.map_err(|e| io::Error::other(e.to_string()))?)
            }
        })
    }
}

/// An open file.
pub enum OutFile {
    Plain { file: File, len: u64 },
    Packed(Box<dyn Compressor>),
}

impl OutFile {
    /// Writes everything or, for plain files, nothing.
    pub fn write_or_undo(&mut self, parts: [&[u8]; 2]) -> io::Result<()> {
        match self {
            OutFile::Plain { file, len } => write_or_undo(file, len, parts),
            OutFile::Packed(packer) => parts.iter().try_for_each(|part| packer.write_all(part)),
        }
    }

    pub fn finish(self) -> io::Result<()> {
        match self {
            OutFile::Plain { .. } => Ok(()),
            OutFile::Packed(mut packer) => packer.finish(),
        }
    }
}
