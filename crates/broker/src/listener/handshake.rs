//! From accept to CONNACK.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rekuiper_mqtt_codec::{
    CodecError, ConnAck, Connect, Packet, PacketKind, ReasonCode, Version, frame,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::connection::Connection;
use crate::door::Door;
use crate::handle::Shared;

/// Serves one socket from its first byte to its last.
pub(super) async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    // boxed: most of a connection's life is spent after it, and need not carry its state
    let Some(connection) = Box::pin(greet(stream, shared)).await else {
        return;
    };
    connection.run().await;
}

async fn greet(mut stream: TcpStream, shared: Arc<Shared>) -> Option<Connection> {
    let limits = shared.with(|core| core.config.clone());
    let limits = &limits.limits;
    let wait = Duration::from_millis(limits.connect_timeout_ms);
    let mut stop = shared.stop.subscribe();
    let first = tokio::select! {
        first = tokio::time::timeout(wait, read_connect(&mut stream, limits.packet_bytes_max)) => {
            first.ok()?
        }
        _ = stop.wait_for(|stop| *stop) => return None,
    };
    let (connect, rest) = match first {
        Ok(Some(first)) => first,
        Ok(None) => return None,
        Err(error) => {
            refuse(&mut stream, error).await;
            return None;
        }
    };
    let version = connect.version;
    let door = Arc::new(Door::default());
    let now = shared.now();
    let admission = shared.with(|core| core.on_connect(connect, door.clone(), now));
    let mut out = Vec::new();
    if Packet::ConnAck(admission.answer)
        .encode(version, &mut out)
        .is_err()
    {
        return None;
    }
    let Some(accepted) = admission.accepted else {
        let _ = stream.write_all(&out).await;
        let _ = stream.shutdown().await;
        return None;
    };
    Some(Connection::new(
        stream, shared, door, accepted, version, rest, out,
    ))
}

/// The CONNECT and what came after it in the same read; `None` = the peer is gone.
async fn read_connect(
    stream: &mut TcpStream,
    bytes_max: usize,
) -> Result<Option<(Connect, Bytes)>, CodecError> {
    let expected = CodecError::Unexpected {
        expected: PacketKind::Connect,
    };
    let mut buf = Vec::with_capacity(256);
    loop {
        match stream.read_buf(&mut buf).await {
            Ok(n) if n > 0 => {}
            _ => return Ok(None),
        }
        // judged by its first byte, not only when a packet is complete
        if buf
            .first()
            .is_some_and(|first| first >> 4 != PacketKind::Connect as u8)
        {
            return Err(expected);
        }
        let Some(frame) = frame::scan_limited(&buf, bytes_max)? else {
            continue;
        };
        let body = &buf[frame.body.clone()];
        let Packet::Connect(connect) = Packet::from_frame(Version::V5, &frame, body)? else {
            return Err(expected);
        };
        let rest = Bytes::copy_from_slice(&buf[frame.total_len..]);
        return Ok(Some((connect, rest)));
    }
}

/// Only an unknown version has an answer every client understands.
async fn refuse(stream: &mut TcpStream, error: CodecError) {
    tracing::debug!(%error, "broker: first packet is not a good CONNECT");
    if error.reason() == ReasonCode::UNSUPPORTED_PROTOCOL_VERSION {
        let answer = ConnAck {
            reason: error.reason(),
            ..ConnAck::default()
        };
        let mut out = Vec::new();
        if Packet::ConnAck(answer)
            .encode(Version::V311, &mut out)
            .is_ok()
        {
            let _ = stream.write_all(&out).await;
            let _ = stream.shutdown().await;
        }
    }
}
