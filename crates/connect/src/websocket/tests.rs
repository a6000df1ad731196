//! As a client of a server, and at the data server (there through the server's own tests).

use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, accept_async};

use super::{sink, source};
use crate::testing::{World, error_of, payloads, props, sink_of, source_of};

async fn accept(listener: &TcpListener) -> WebSocketStream<tokio::net::TcpStream> {
    accept_async(listener.accept().await.unwrap().0).await.unwrap()
}

async fn server() -> (TcpListener, serde_json::Value) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap().to_string();
    (listener, json!({"addr": addr, "path": "/w?x=1"}))
}

#[tokio::test]
async fn a_source_reads_texts_and_comes_back_after_a_loss() {
    let (listener, conf) = server().await;
    let world = World::new();
    let mut running = world.run(source_of(source::open("", &props(conf))));
    let mut peer = accept(&listener).await;
    peer.send(Message::Binary(vec![1].into())).await.unwrap();
    peer.send(Message::Text("one".into())).await.unwrap();
    assert_eq!(running.texts().await, ["one"]);
    assert_eq!(running.status.state(), 1);
    drop(peer);
    assert!(running.error().await.contains("disconnected: websocket"));
    assert_eq!(running.status.state(), -1);
    world.hand.advance(100);
    let mut peer = accept(&listener).await;
    peer.send(Message::Text("two".into())).await.unwrap();
    assert_eq!(running.texts().await, ["two"]);
}

#[tokio::test]
async fn a_sink_writes_texts() {
    let (listener, conf) = server().await;
    let world = World::new();
    let mut sink = sink_of(sink::open(&props(conf)));
    let cx = world.sink_cx();
    let (opened, mut peer) = tokio::join!(sink.open(&cx), accept(&listener));
    opened.unwrap();
    sink.write(&payloads(&["a", "b", "c"], vec![]), 1).await.unwrap();
    for want in ["b", "c"] {
        assert_eq!(peer.next().await.unwrap().unwrap(), Message::Text(want.into()));
    }
    drop(peer);
    let mut failed = None;
    for _ in 0..1000 {
        tokio::task::yield_now().await;
        if let Err(e) = sink.write(&payloads(&["d"], vec![]), 0).await {
            failed = Some(e);
            break;
        }
    }
    assert_eq!(failed.unwrap().fault, crate::Fault::Io);
}

#[test]
fn refused_when_made() {
    assert!(error_of(source::open("x", &props(json!({})))).text.contains("slash"));
    let conf = json!({"addr": "h:1", "path": "/x", "scheme": "http"});
    assert!(error_of(sink::open(&props(conf))).text.contains("ws or wss"));
}
