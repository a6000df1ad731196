//! `compress`: text or bytea compressed by zlib, gzip, flate or zstd.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use rekuiper_value::{Error, Result, Value};

use crate::arguments::text;
use crate::operand::bytes;
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "compress",
    family: "transform",
    args: &[
        Arg::new("data", Refuse::NOT_TEXT),
        Arg::new("method", Refuse::NOT_TEXT),
    ],
    returns: "bytea",
    doc: "text or bytea compressed by zlib, gzip, flate or zstd.",
    example: (
        r#"cast(decompress(compress("x", "zlib"), "zlib"), "string")"#,
        r#""x""#,
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let data = bytes(DEF.name, args, 0)?;
    let level = Compression::default();
    let packed = match text(DEF.name, args, 1)?.as_str() {
        "zlib" => {
            let mut writer = ZlibEncoder::new(Vec::new(), level);
            writer.write_all(data).and_then(|()| writer.finish())
        }
        "gzip" => {
            let mut writer = GzEncoder::new(Vec::new(), level);
            writer.write_all(data).and_then(|()| writer.finish())
        }
        "flate" => {
            let mut writer = DeflateEncoder::new(Vec::new(), level);
            writer.write_all(data).and_then(|()| writer.finish())
        }
        "zstd" => zstd::encode_all(data, 0),
        other => return Err(unknown(DEF.name, other)),
    };
    packed
        .map(Value::bytes)
        .map_err(|e| Error::new(format!("compress: {e}")))
}

pub(super) fn unknown(name: &str, method: &str) -> Error {
    Error::new(format!(
        "{name}: unknown method {method}: zlib, gzip, flate or zstd is wanted"
    ))
}

crate::registry::cases! {
    scalar:
    r#"["x","lzma"]"# => "error",
    r#"[5,"zlib"]"# => "error",
    r#"[null,"zlib"]"# => "null",
}
