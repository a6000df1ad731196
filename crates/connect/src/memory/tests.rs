//! Rows published on topics, rows found in tables.

use rekuiper_value::{Str, Value};
use serde_json::json;

use super::{lookup, sink, source};
use crate::testing::{
    World, emissions, error_of, is_pending, lookup_of, payloads, props, settle, show, sink_of,
    source_of,
};
use crate::{Fault, Sink};

async fn sink_at(world: &World, conf: serde_json::Value) -> Box<dyn Sink> {
    let mut sink = sink_of(sink::open(&props(conf)));
    sink.open(&world.sink_cx()).await.unwrap();
    sink
}

fn filter(topic: &str) -> Box<dyn crate::Source> {
    source_of(source::open(topic, &props(json!({}))))
}

#[tokio::test]
async fn rows_reach_every_subscriber_of_the_topic() {
    let world = World::new();
    let mut exact = world.run(filter("home/a/temp"));
    let mut plus = world.run(filter("home/+/temp"));
    let mut all = world.run(filter("home/#"));
    let mut other = world.run(filter("home/b/temp"));
    let mut odd = world.run(filter("ome/+/tem"));
    settle().await;
    let mut sink = sink_at(&world, json!({"topic": "home/a/temp"})).await;
    sink.write(&emissions(&[r#"[{"a":1},{"a":2}]"#, r#"[{"a":3}]"#], vec![]), 0).await.unwrap();
    for running in [&mut exact, &mut plus, &mut all] {
        let batch = running.batch().await;
        assert_eq!(crate::testing::texts(&batch), [r#"{"a":1}"#, r#"{"a":2}"#, r#"{"a":3}"#]);
        assert_eq!(batch.meta.unwrap().get("topic").unwrap().as_str(), Some("home/a/temp"));
    }
    assert!(other.is_silent().await && odd.is_silent().await);
    assert_eq!(exact.status.state(), 1);
}

#[tokio::test]
async fn a_templated_topic_is_the_real_topic() {
    let world = World::new();
    let mut plus = world.run(filter("home/+"));
    settle().await;
    let mut sink = sink_at(&world, json!({"topic": "home/{{.s}}"})).await;
    assert_eq!(sink.templated(), ["topic"]);
    let topics = vec![vec![Str::from("home/x")], vec![Str::from("home/y")], vec![Str::from("#")]];
    let batch = emissions(&[r#"[{"a":1}]"#, r#"[{"a":2}]"#, r#"[{"a":3}]"#], topics);
    let error = sink.write(&batch, 0).await.unwrap_err();
    assert_eq!((error.fault, error.written), (Fault::Data, 2));
    assert_eq!(plus.texts().await, [r#"{"a":1}"#]);
    assert_eq!(plus.texts().await, [r#"{"a":2}"#]);
    sink.write(&batch, 3).await.unwrap();
    assert!(sink.write(&payloads(&["x"], vec![]), 0).await.is_err());
}

#[tokio::test]
async fn a_stuck_subscriber_holds_nobody_up_for_long() {
    let world = World::new();
    let (_stuck, mut rx) = world.services.memory.subscribe("t", 2);
    let mut sink = sink_at(&world, json!({"topic": "t"})).await;
    let two = emissions(&[r#"[{"a":1},{"a":2}]"#], vec![]);
    sink.write(&two, 0).await.unwrap();
    let one = emissions(&[r#"[{"a":3}]"#], vec![]);
    {
        let mut write = std::pin::pin!(sink.write(&one, 0));
        assert!(is_pending(&mut write).await, "it waits for room");
        rx.recv().await.unwrap();
        write.await.unwrap();
    }
    sink.write(&one, 0).await.unwrap();
    {
        let mut write = std::pin::pin!(sink.write(&one, 0));
        assert!(is_pending(&mut write).await);
        world.hand.advance(1000);
        write.await.unwrap();
    }
    assert_eq!(world.services.memory.dropped_rows(), 1);
    sink.write(&one, 0).await.unwrap(); // no second wait for the same
    assert_eq!(world.services.memory.dropped_rows(), 2);
    drop((rx, _stuck));
    sink.write(&one, 0).await.unwrap();
    assert_eq!(world.services.memory.dropped_rows(), 2);
}

#[tokio::test]
async fn tables_keep_the_last_row_of_each_key() {
    let world = World::new();
    let table = lookup_of(lookup::open("t/#", "id", &props(json!({}))));
    table.open(&world.source_cx()).await.unwrap();
    let find = |keys: &[(&str, Value)]| {
        let keys: Vec<(Str, Value)> =
            keys.iter().map(|(k, v)| (Str::from(*k), v.clone())).collect();
        let mut rows: Vec<String> = table.find_now(&keys).unwrap().iter().map(show).collect();
        rows.sort();
        rows
    };
    let mut sink = sink_at(&world, json!({"topic": "t/a"})).await;
    let rows = r#"[{"id":1,"v":"x"},{"id":2,"v":"x"},{"id":1,"v":"y"},{"v":"no key"}]"#;
    sink.write(&emissions(&[rows], vec![]), 0).await.unwrap();
    assert_eq!(find(&[("id", 1.0.into())]), [r#"{"id":1,"v":"y"}"#]);
    assert!(find(&[("id", Value::Int(1))]).is_empty(), "compared by type");
    assert_eq!(find(&[("v", "x".into())]), [r#"{"id":2,"v":"x"}"#]);
    assert!(find(&[("id", 1.0.into()), ("v", "x".into())]).is_empty());
    assert!(find(&[("id", Value::Null)]).is_empty());
    let conf = json!({"topic": "t/b", "rowkindField": "do", "keyField": "k"});
    let mut changes = sink_at(&world, conf).await;
    let rows = [r#"[{"k":1,"do":"delete"}]"#, r#"[{"k":7,"id":7}]"#, r#"[{"k":1,"do":"burn"}]"#];
    let error = changes.write(&emissions(&rows, vec![]), 0).await.unwrap_err();
    assert_eq!((error.fault, error.written), (Fault::Data, 2));
    assert!(find(&[("id", 1.0.into())]).is_empty());
    assert_eq!(find(&[("id", 7.0.into())]), [r#"{"id":7,"k":7}"#]);
}

#[test]
fn refused_when_made() {
    for (conf, word) in [
        (json!({"topic": "a/#"}), "invalid memory topic a/#: wildcard found"),
        (json!({"topic": "a", "rowkindField": "k"}), "keyField"),
    ] {
        let error = error_of(sink::open(&props(conf)));
        assert!(error.fault == Fault::Config && error.text.contains(word), "{error}");
    }
    assert!(sink::open(&props(json!({}))).is_ok(), "taken as eKuiper does; its results fail");
    assert!(error_of(source::open("a/#/b", &props(json!({})))).text.contains("a/#/b"));
    assert!(error_of(lookup::open("a", "", &props(json!({})))).text.contains("key"));
}
