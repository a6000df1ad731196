//! Compression zstd (RFC 8878).

use std::io::{self, Write};

use zstd::stream::raw::CParameter;
use zstd::stream::read::Decoder;
use zstd::stream::write::Encoder;

use super::{CompressionProps, Compressor};

pub fn read(data: &[u8], out: &mut dyn Write) -> io::Result<u64> {
    io::copy(&mut Decoder::new(data)?, &mut { out })
}

pub fn writer<'a, W: Write + Send + 'a>(
    to: W,
    props: CompressionProps,
) -> io::Result<Box<dyn Compressor + 'a>> {
    let mut encoder = Encoder::new(to, 0)?;
    if props.window_size > 0 {
        let log = props.window_size.ilog2().clamp(10, 27);
        encoder.set_parameter(CParameter::WindowLog(log))?;
    }
    Ok(Box::new(Zstd(encoder)))
}

struct Zstd<'a, W: Write>(Encoder<'a, W>);

impl<W: Write> Write for Zstd<'_, W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0.write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl<W: Write + Send> Compressor for Zstd<'_, W> {
    fn finish(&mut self) -> io::Result<()> {
        self.0.do_finish()
    }
}
