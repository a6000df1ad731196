//! Batches of messages, message by message.

use rekuiper_value::batch::{Msg, Payloads, RawBatch};
use rekuiper_value::{Error, Value, json};

pub(super) fn part(bytes: &[u8], (at, len): (u32, u32)) -> &[u8] {
    bytes.get(at as usize..at as usize + len as usize).unwrap_or_default()
}

/// The first message of a batch of bytes.
pub(super) fn first(batch: &RawBatch) -> Option<&[u8]> {
    match &batch.payloads {
        Payloads::Bytes { bytes, msgs } => Some(part(bytes, msgs.first()?.payload)),
        _ => None,
    }
}

/// The batch with each message replaced by those that `make` makes of it. Rows stay as they are.
pub(super) fn each(
    batch: RawBatch,
    mut make: impl FnMut(&[u8], &mut Vec<Vec<u8>>) -> Result<(), Error>,
) -> (RawBatch, Vec<Error>) {
    let Payloads::Bytes { bytes, msgs } = &batch.payloads else { return (batch, Vec::new()) };
    let (mut buf, mut made, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    let mut add = |piece: &[u8]| {
        let at = buf.len() as u32;
        buf.extend_from_slice(piece);
        (at, piece.len() as u32)
    };
    for msg in msgs {
        let mut pieces = Vec::new();
        if let Err(error) = make(part(bytes, msg.payload), &mut pieces) {
            errors.push(error);
            continue;
        }
        let topic = add(part(bytes, msg.meta.topic));
        for piece in pieces {
            let mut meta = msg.meta.clone();
            meta.topic = topic;
            made.push(Msg { payload: add(&piece), meta });
        }
    }
    let payloads = Payloads::Bytes { bytes: buf.into(), msgs: made };
    (RawBatch { payloads, ..batch }, errors)
}

/// The elements of a JSON list; another payload is one by itself.
pub(super) fn elements(message: &[u8], out: &mut Vec<Vec<u8>>) -> Result<(), Error> {
    match message.trim_ascii_start().first() {
        Some(b'[') => match json::parse(message)? {
            Value::Array(items) => {
                for item in items.iter() {
                    out.push(json::to_string(item)?.into_bytes());
                }
            }
            _ => out.push(message.to_vec()),
        },
        _ => out.push(message.to_vec()),
    }
    Ok(())
}
