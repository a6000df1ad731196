//! `decompress`: the bytes that zlib, gzip, flate or zstd data stands for.

use std::io::Read;

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use rekuiper_value::{Error, Result, Value};

use crate::arguments::text;
use crate::operand::{MOST_BYTES, bytes};
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "decompress",
    family: "transform",
    args: &[
        Arg::new("data", Refuse::NOT_TEXT),
        Arg::new("method", Refuse::NOT_TEXT),
    ],
    returns: "bytea",
    doc: "the bytes that zlib, gzip, flate or zstd data stands for.",
    example: (
        r#"cast(decompress(decode("K07NK84vUihIrMzJT0xRMDECAA==", "base64"), "flate"), "string")"#,
        r#""sensor payload 42""#,
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let data = bytes(DEF.name, args, 0)?;
    match text(DEF.name, args, 1)?.as_str() {
        "zlib" => read(ZlibDecoder::new(data)),
        "gzip" => read(MultiGzDecoder::new(data)),
        "flate" => read(DeflateDecoder::new(data)),
        "zstd" => match zstd::Decoder::new(data) {
            Ok(reader) => read(reader),
            Err(e) => Err(failed(&e)),
        },
        other => Err(super::compress::unknown(DEF.name, other)),
    }
}

/// Reads to the end, but no more than a row may have: a few bytes can unpack to gigabytes.
fn read(reader: impl Read) -> Result<Value> {
    let mut out = Vec::new();
    reader
        .take(MOST_BYTES as u64 + 1)
        .read_to_end(&mut out)
        .map_err(|e| failed(&e))?;
    if out.len() > MOST_BYTES {
        return Err(Error::new(format!(
            "decompress: more than {MOST_BYTES} bytes"
        )));
    }
    Ok(Value::bytes(out))
}

fn failed(e: &std::io::Error) -> Error {
    Error::new(format!("decompress: {e}"))
}

#[cfg(test)]
mod round_trips {
    use super::*;

    #[test]
    fn of_all_methods() {
        let pack = crate::lookup("compress").expect("compress");
        let cx = crate::testing::cx();
        for method in ["zlib", "gzip", "flate", "zstd"] {
            for text in ["", "hello hello hello", "世界"] {
                let packed = pack.call(&[text.into(), method.into()], &cx).unwrap();
                let back = DEF.call(&[packed, method.into()], &cx).unwrap();
                assert_eq!(back, Value::bytes(text.as_bytes()), "{method}");
            }
        }
    }
}

crate::registry::cases! {
    scalar:
    r#"["not compressed","zlib"]"# => "error",
    r#"["x","zstd"]"# => "error",
    r#"["x","lzma"]"# => "error",
    r#"[null,"zlib"]"# => "null",
}
