//! JSON, base64, hashes, identifiers and the environment.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rekuiper_value::{Error, Result, Value, json};
use sha2::Digest as _;

use super::{Args, Function, f, text_value};

pub const FUNCTIONS: &[Function] = &[
    f("fromJson", 1, 1, |a| Ok(json::parse(a.str(0)?.as_bytes()).unwrap_or(Value::Null))),
    f("mustFromJson", 1, 1, |a| json::parse(a.str(0)?.as_bytes())),
    f("mustToJson", 1, 1, |a| text_value(json::to_string(&a.any(0))?)),
    f("toRawJson", 1, 1, |a| text_value(raw(&json::to_string(&a.any(0))?))),
    f("toPrettyJson", 1, 1, |a| {
        let text = serde_json::to_string_pretty(&json::to_serde(&a.any(0)));
        text_value(text.unwrap_or_default())
    }),
    f("b64enc", 1, 1, |a| text_value(STANDARD.encode(a.str(0)?))),
    f("b64dec", 1, 1, |a| match STANDARD.decode(a.str(0)?) {
        Ok(bytes) => text_value(String::from_utf8_lossy(&bytes).as_ref()),
        Err(error) => text_value(error.to_string()),
    }),
    f("sha1sum", 1, 1, |a| text_value(hex(&sha1::Sha1::digest(a.str(0)?)))),
    f("sha256sum", 1, 1, |a| text_value(hex(&sha2::Sha256::digest(a.str(0)?)))),
    f("sha512sum", 1, 1, |a| text_value(hex(&sha2::Sha512::digest(a.str(0)?)))),
    f("adler32sum", 1, 1, |a| {
        let (mut low, mut high) = (1u32, 0u32);
        for b in a.str(0)?.bytes() {
            low = (low + u32::from(b)) % 65521;
            high = (high + low) % 65521;
        }
        text_value(format!("{}", high << 16 | low))
    }),
    f("uuidv4", 0, 0, uuid),
    f("env", 1, 1, |a| {
        let name = a.str(0)?;
        text_value(a.env.env.and_then(|env| env(name)).unwrap_or_default())
    }),
];

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// JSON without the escapes of `< > &`.
fn raw(text: &str) -> String {
    text.replace("\\u003c", "<").replace("\\u003e", ">").replace("\\u0026", "&")
}

fn uuid(_: &mut Args<'_, '_>) -> Result<Value> {
    let mut b = [0u8; 16];
    getrandom::fill(&mut b)
        .map_err(|e| Error::new(format!("the system gives no random bytes: {e}")))?;
    b[6] = b[6] & 0x0f | 0x40;
    b[8] = b[8] & 0x3f | 0x80;
    let h = hex(&b);
    let parts = [&h[..8], &h[8..12], &h[12..16], &h[16..20], &h[20..]];
    text_value(parts.join("-"))
}
