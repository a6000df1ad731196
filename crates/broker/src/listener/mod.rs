//! TCP: accepting connections.

mod connection;
mod handshake;

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;

use crate::handle::Shared;

/// Accepts until the broker stops. A failing accept (no file descriptors left) is tried again
/// after a moment, as the connections there are must go on.
pub(crate) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut stop = shared.stop.subscribe();
    let connections_max = shared.with(|core| core.config.limits.connections_max);
    let sockets_max = connections_max + connections_max / 10 + 64;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => return,
        };
        match accepted {
            // most of them wait for their CONNECT; those that have it are counted by the core
            Ok((_, peer)) if shared.live() > sockets_max => {
                tracing::warn!(%peer, "broker: too many sockets, connection dropped");
            }
            Ok((stream, peer)) => {
                // without it small answers wait for the peer's delayed acknowledgement
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%peer, %error, "broker: no TCP_NODELAY");
                }
                shared.spawn(handshake::serve(stream, shared.clone()));
            }
            Err(error) => {
                tracing::warn!(%error, "broker: cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}
