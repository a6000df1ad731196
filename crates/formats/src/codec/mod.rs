//! Compression and encryption of payloads, one codec a file.

pub mod aes;
mod flate;
mod gzip;
mod zlib;
mod zstd;

use std::io::{self, Write};

use rekuiper_value::{Error, Result};

/// A compression by its eKuiper name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    Zlib,
    Gzip,
    Flate,
    Zstd,
}

/// Every compression of messages; files take gzip and zstd only.
pub const COMPRESSIONS: &[(&str, Compression)] = &[
    ("zlib", Compression::Zlib),
    ("gzip", Compression::Gzip),
    ("flate", Compression::Flate),
    ("zstd", Compression::Zstd),
];

/// Settings of a compression; 0 is its own default.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompressionProps {
    /// zstd: bytes the decompressor must hold, a power of two of at least 1024 is used.
    pub window_size: u64,
}

impl Compression {
    pub fn by_name(name: &str) -> Result<Compression> {
        match COMPRESSIONS.iter().find(|(word, _)| *word == name) {
            Some((_, compression)) => Ok(*compression),
            None => Err(Error::new(format!(
                "unsupported compression {name}: use one of zlib, gzip, flate, zstd"
            ))),
        }
    }

    /// Whether files may be written with it.
    pub fn for_files(self) -> bool {
        matches!(self, Compression::Gzip | Compression::Zstd)
    }

    /// Appends the compressed form of a payload.
    pub fn compress(self, data: &[u8], props: CompressionProps, out: &mut Vec<u8>) -> Result<()> {
        let mut stream = self.writer(&mut *out, props)?;
        stream
            .write_all(data)
            .and_then(|()| stream.finish())
            .map_err(|e| Error::new(format!("cannot compress: {e}")))
    }

    /// Appends what a compressed payload holds; more than `max` bytes are refused, so that a small
    /// message cannot fill the memory.
    pub fn decompress(self, data: &[u8], max: usize, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let mut sink = Bounded { out, left: max };
        let read = match self {
            Compression::Zlib => zlib::read(data, &mut sink),
            Compression::Gzip => gzip::read(data, &mut sink),
            Compression::Flate => flate::read(data, &mut sink),
            Compression::Zstd => zstd::read(data, &mut sink),
        };
        if let Err(error) = read {
            out.truncate(start);
            return Err(Error::new(format!("cannot decompress: {error}")));
        }
        Ok(())
    }

    /// A stream that compresses into `to`. Nothing is complete before `finish`.
    pub fn writer<'a, W: Write + Send + 'a>(
        self,
        to: W,
        props: CompressionProps,
    ) -> Result<Box<dyn Compressor + 'a>> {
        Ok(match self {
            Compression::Zlib => zlib::writer(to),
            Compression::Gzip => gzip::writer(to),
            Compression::Flate => flate::writer(to),
            Compression::Zstd => zstd::writer(to, props)
                .map_err(|e| Error::new(format!("cannot compress with zstd: {e}")))?,
        })
    }
}

/// A compressing writer.
pub trait Compressor: Write + Send {
    /// Writes what is held back and the end mark; nothing may be written after it.
    fn finish(&mut self) -> io::Result<()>;
}

struct Bounded<'a> {
    out: &'a mut Vec<u8>,
    left: usize,
}

impl Write for Bounded<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if data.len() > self.left {
            return Err(io::Error::other("more bytes inside than a message may have"));
        }
        self.left -= data.len();
        self.out.extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
