//! Properties of any source, seen from its stream: messages in, texts out, the clock by hand.

use rekuiper_formats::codec::Compression;
use rekuiper_value::batch::RawBatch;
use serde_json::json;

use crate::ConnectError;
use crate::intake::{until, wrap};
use crate::testing::{World, props, settle};
use crate::traits::{BoxFuture, Source, SourceCx, SourceOut};

/// Hands over batches of messages as they come, and ends when nobody can send any more.
struct Fed(tokio::sync::mpsc::Receiver<Vec<&'static [u8]>>);

impl Source for Fed {
    fn run<'a>(
        mut self: Box<Self>,
        cx: SourceCx,
        out: SourceOut,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        Box::pin(async move {
            while let Some(messages) = self.0.recv().await {
                let batch = RawBatch::of_payloads(&messages, cx.clock.now_ms());
                if out.send(batch).await.is_err() {
                    break;
                }
            }
            Ok(())
        })
    }
}

type Feed = tokio::sync::mpsc::Sender<Vec<&'static [u8]>>;

fn fed(conf: serde_json::Value) -> Result<(Feed, Box<dyn Source>), ConnectError> {
    let (tx, rx) = tokio::sync::mpsc::channel(64);
    Ok((tx, wrap(Box::new(Fed(rx)), &props(conf))?))
}

fn refused(conf: serde_json::Value) -> String {
    fed(conf).map(drop).expect_err("refused").text
}

#[tokio::test]
async fn only_the_latest_of_each_tick_goes_on() {
    let world = World::new();
    let (feed, source) = fed(json!({"interval": "100ms"})).unwrap();
    let mut running = world.run(source);
    feed.send(vec![b"1", b"2"]).await.unwrap();
    feed.send(vec![b"3"]).await.unwrap();
    assert!(running.is_silent().await);
    world.hand.advance(100);
    assert_eq!(running.texts().await, ["3"]);
    assert_eq!(running.skipped, 2, "what does not go on is counted");
    // nothing came: nothing goes
    world.hand.advance(250);
    assert!(running.is_silent().await);
    feed.send(vec![b"4"]).await.unwrap();
    settle().await;
    world.hand.advance(50);
    assert_eq!(running.texts().await, ["4"], "ticks stay where they were");
    // what waits at the end is not lost
    feed.send(vec![b"5", b"6"]).await.unwrap();
    drop(feed);
    let (rest, end) = running.until_end().await;
    assert_eq!(rest, ["6"]);
    assert!(end.is_ok());
}

#[tokio::test]
async fn frames_of_a_tick_are_merged() {
    let world = World::new();
    let (feed, source) = fed(json!({"interval": 10, "mergeField": "id"})).unwrap();
    let mut running = world.run(source);
    feed.send(vec![br#"{"id":0,"v0":1}"#, br#"{"id":1,"v1":5}"#, br#"{"id":0,"v0":4}"#])
        .await
        .unwrap();
    settle().await;
    world.hand.advance(10);
    assert_eq!(running.texts().await, [r#"{"id":1,"v0":4,"v1":5}"#]);
    assert_eq!(running.skipped, 2, "one row came of three messages");
    feed.send(vec![b"[1]", br#"{"v0":4}"#]).await.unwrap();
    assert!(running.error().await.contains("objects"));
    assert!(running.error().await.contains("field id"));
}

#[tokio::test]
async fn messages_are_decompressed() {
    let world = World::new();
    let mut packed = Vec::new();
    Compression::Gzip.compress(b"{\"a\":1}", Default::default(), &mut packed).unwrap();
    let packed: &'static [u8] = packed.leak();
    let (feed, source) = fed(json!({"decompression": "gzip"})).unwrap();
    let mut running = world.run(source);
    feed.send(vec![packed, b"no gzip", packed]).await.unwrap();
    assert!(running.error().await.contains("cannot decompress"));
    assert_eq!(running.texts().await, [r#"{"a":1}"#, r#"{"a":1}"#]);
    assert!(refused(json!({"decompression": "rar"})).contains("rar"));
}

#[tokio::test]
async fn a_field_is_decoded_a_second_time() {
    let world = World::new();
    let conf = json!({"payloadFormat": "json", "payloadField": "p"});
    let (feed, source) = fed(conf).unwrap();
    let mut running = world.run(source);
    feed.send(vec![
        br#"{"k":1,"p":"{\"a\":2}"}"#,
        br#"{"k":2,"p":"[{\"a\":3},{\"a\":4}]"}"#,
        br#"{"k":3}"#,
        br#"{"k":4,"p":"7"}"#,
    ])
    .await
    .unwrap();
    assert!(running.error().await.contains("payloadField"));
    assert!(running.error().await.contains("map[string]"));
    let rows = [r#"{"a":2,"k":1}"#, r#"{"a":3,"k":2}"#, r#"{"a":4,"k":2}"#];
    assert_eq!(running.texts().await, rows);
    let conf = json!({"payloadFormat": "delimited", "payloadField": "p", "payloadDelimiter": ";"});
    let (feed, source) = fed(conf).unwrap();
    let mut running = world.run(source);
    feed.send(vec![br#"{"k":1,"p":"x;2"}"#]).await.unwrap();
    assert_eq!(running.texts().await, [r#"{"col0":"x","col1":"2","k":1}"#]);
    assert!(refused(json!({"payloadFormat": "json"})).contains("payloadField"));
    assert!(refused(json!({"payloadFormat": "xml", "payloadField": "p"})).contains("xml"));
    assert!(refused(json!({"payloadFormat": "protobuf"})).contains("protobuf"));
    assert!(refused(json!({"merger": "can"})).contains("merger"));
}

#[tokio::test]
async fn rows_of_one_payload_come_with_pauses() {
    let world = World::new();
    let (feed, source) = fed(json!({"sendInterval": 20})).unwrap();
    let mut running = world.run(source);
    feed.send(vec![br#"[{"a":1},{"a":2}]"#, b"3"]).await.unwrap();
    assert_eq!(running.texts().await, [r#"{"a":1}"#]);
    for want in [r#"{"a":2}"#, "3"] {
        assert!(running.is_silent().await);
        world.hand.advance(20);
        assert_eq!(running.texts().await, [want]);
    }
}

#[tokio::test]
async fn a_stream_that_stops_stops_its_source() {
    let world = World::new();
    let (feed, source) = fed(json!({"interval": 1000})).unwrap();
    let running = world.run(source);
    settle().await;
    drop(running);
    settle().await;
    assert!(feed.is_closed());
}

#[tokio::test]
async fn a_certain_message_ends_the_stream() {
    let world = World::new();
    let (feed, source) = fed(json!({})).unwrap();
    let running = world.run(until(source, b"bye".to_vec()));
    feed.send(vec![b"1"]).await.unwrap();
    feed.send(vec![b"2", b"bye", b"3"]).await.unwrap();
    let (texts, end) = running.until_end().await;
    assert_eq!(texts, ["1", "2"]);
    assert!(end.is_ok());
}
