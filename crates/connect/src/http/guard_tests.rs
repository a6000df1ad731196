//! What the guard holds back, seen from a connector: names, odd spellings and redirects.

use std::sync::atomic::Ordering::Relaxed;

use serde_json::json;

use super::testing::TestServer;
use crate::ConnectError;
use crate::testing::{World, payloads, props, sink_of};

/// One request of a rest sink.
async fn sent(world: &World, url: &str) -> Result<(), ConnectError> {
    let conf = json!({"url": url, "method": "post", "timeout": 5000});
    let mut sink = sink_of(crate::rest::sink(&props(conf)));
    sink.open(&world.sink_cx()).await?;
    sink.write(&payloads(&["x"], vec![]), 0).await
}

#[tokio::test]
async fn no_spelling_of_an_inner_address_is_let_through() {
    let server = TestServer::start(|_| ("200 OK".into(), "{}".into())).await;
    let port = server.port;
    for host in [
        "127.0.0.1",
        // names are judged by where they lead
        "localhost",
        "LOCALHOST",
        // one number, octal, hexadecimal, short
        "2130706433",
        "0177.0.0.1",
        "0x7f000001",
        "127.1",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        // what stands before the @ is no host
        "8.8.8.8@127.0.0.1",
        "169.254.169.254",
    ] {
        let error = sent(&World::new(), &format!("http://{host}:{port}/")).await.unwrap_err();
        // a spelling that this system does not read leads nowhere, which is as good
        let held = ["internal network", "cannot resolve", "http://"];
        assert!(held.iter().any(|word| error.text.contains(word)), "{host}: {error}");
    }
    assert_eq!(*server.connections.lock().unwrap(), 0, "nobody may have come through");
    let world = World::new();
    world.services.private_net.store(true, Relaxed);
    sent(&world, &format!("http://localhost:{port}/")).await.unwrap();
    assert_eq!(*server.connections.lock().unwrap(), 1);
}

#[tokio::test]
async fn a_redirect_to_an_inner_address_is_not_followed() {
    let inner = TestServer::start(|_| ("200 OK".into(), "secret".into())).await;
    for location in [inner.url.clone(), format!("http://localhost:{}/", inner.port)] {
        let world = World::new();
        world.services.private_net.store(true, Relaxed);
        // the guard comes back up while the first answer is on its way
        let services = world.services.clone();
        let outer = TestServer::start(move |_| {
            services.private_net.store(false, Relaxed);
            (format!("302 Found\r\nLocation: {location}"), String::new())
        })
        .await;
        let error = sent(&world, &outer.url).await.unwrap_err();
        assert!(error.text.contains("internal network"), "{error}");
        assert_eq!(*outer.connections.lock().unwrap(), 1);
    }
    assert_eq!(*inner.connections.lock().unwrap(), 0);
}
