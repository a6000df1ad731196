//! Compression gzip (RFC 1952); several members in a row are read as one.

use std::io::{self, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::Compressor;

pub fn read(data: &[u8], out: &mut dyn Write) -> io::Result<u64> {
    io::copy(&mut MultiGzDecoder::new(data), &mut { out })
}

pub fn writer<'a, W: Write + Send + 'a>(to: W) -> Box<dyn Compressor + 'a> {
    Box::new(GzEncoder::new(to, Compression::default()))
}

impl<W: Write + Send> Compressor for GzEncoder<W> {
    fn finish(&mut self) -> io::Result<()> {
        self.try_finish()
    }
}
