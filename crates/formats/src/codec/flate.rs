//! Compression flate (RFC 1951, without any header).

use std::io::{self, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use super::Compressor;

pub fn read(data: &[u8], out: &mut dyn Write) -> io::Result<u64> {
    io::copy(&mut DeflateDecoder::new(data), &mut { out })
}

pub fn writer<'a, W: Write + Send + 'a>(to: W) -> Box<dyn Compressor + 'a> {
    Box::new(DeflateEncoder::new(to, Compression::default()))
}

impl<W: Write + Send> Compressor for DeflateEncoder<W> {
    fn finish(&mut self) -> io::Result<()> {
        self.try_finish()
    }
}
