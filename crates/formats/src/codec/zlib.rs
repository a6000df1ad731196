//! Compression zlib (RFC 1950).

use std::io::{self, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::Compressor;

pub fn read(data: &[u8], out: &mut dyn Write) -> io::Result<u64> {
    io::copy(&mut ZlibDecoder::new(data), &mut { out })
}

pub fn writer<'a, W: Write + Send + 'a>(to: W) -> Box<dyn Compressor + 'a> {
    Box::new(ZlibEncoder::new(to, Compression::default()))
}

impl<W: Write + Send> Compressor for ZlibEncoder<W> {
    fn finish(&mut self) -> io::Result<()> {
        self.try_finish()
    }
}
