//! Values made into other kinds: casts, encodings, compression, zones.

crate::registry::functions! {
    cast,
    chr,
    compress,
    convert_tz,
    dec2hex,
    decode,
    decompress,
    encode,
    hex2dec,
    to_seconds,
    trunc,
}
