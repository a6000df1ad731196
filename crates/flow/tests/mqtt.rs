//! Rules over a real broker: nothing is lost on the way, and what is dropped is counted.

use std::sync::Arc;
use std::time::Duration;

use rekuiper_broker::{Broker, BrokerConfig, BrokerHandle, LinkHandle, QoS};
use rekuiper_connect::{Props, Services};
use rekuiper_flow::{
    ActionSpec, Engine, EngineConfig, FlowCatalog, NodeReport, RuleSpec, StreamSpec,
};
use rekuiper_plan::{Catalog, StreamInfo};
use rekuiper_rt::Clock;
use rekuiper_sql::ast::{Statement, StreamDef};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// Longer than anything takes; only what is broken waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

struct One {
    def: Arc<StreamDef>,
    props: Props,
}

impl Catalog for One {
    fn stream(&self, name: &str) -> Option<StreamInfo> {
        (name == "s").then(|| StreamInfo::new(self.def.clone()))
    }
}

impl FlowCatalog for One {
    fn stream_spec(&self, name: &str) -> Option<StreamSpec> {
        let spec = || StreamSpec { def: self.def.clone(), props: self.props.clone() };
        (name == "s").then(spec)
    }
    fn as_plan(&self) -> &dyn Catalog {
        self
    }
}

fn props(json: Value) -> Props {
    Props::new(json.as_object().cloned().unwrap_or_default())
}

fn stream(broker: &BrokerHandle, shared: bool, more: Value) -> One {
    let ddl = format!(
        r#"CREATE STREAM s () WITH (DATASOURCE="t", FORMAT="json", TYPE="mqtt", SHARED="{shared}")"#
    );
    let Ok(Statement::Create(def)) = rekuiper_sql::parse_statement(&ddl) else {
        panic!("the stream's definition does not parse")
    };
    let port = broker.local_addr().expect("a listener").port();
    let mut all = json!({"server": format!("tcp://127.0.0.1:{port}"), "qos": 1});
    for (key, value) in more.as_object().into_iter().flatten() {
        all[key] = value.clone();
    }
    One { def: Arc::from(def), props: props(all) }
}

async fn broker(at: &str) -> BrokerHandle {
    let listeners = vec![at.parse().expect("an address")];
    let config = BrokerConfig { listeners, ..BrokerConfig::default() };
    Broker::start(config).await.expect("a free port")
}

fn engine() -> Arc<Engine> {
    Engine::new(EngineConfig::new(Clock::Real, Services::new(Clock::Real, ".".into(), ".".into())))
}

/// Starts a rule whose results come out of the queue, which holds `room` of them.
fn start(engine: &Engine, catalog: &One, id: &str, room: usize) -> mpsc::Receiver<String> {
    let (tx, rx) = mpsc::channel(room);
    engine.config.services.embedded.collect_texts(id, tx);
    let action = ActionSpec { typ: "$embed".into(), props: props(json!({"sendSingle": true})) };
    let sql = "SELECT n FROM s".into();
    let spec = RuleSpec { id: id.into(), sql, actions: vec![action], ..RuleSpec::default() };
    engine.start(&spec, catalog, Box::new(|_| ())).expect("starts");
    rx
}

async fn until(what: &str, condition: impl Fn() -> bool) {
    let wait = async {
        while !condition() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("never: {what}"));
}

async fn next(rx: &mut mpsc::Receiver<String>) -> i64 {
    let text = tokio::time::timeout(PATIENCE, rx.recv()).await.expect("in time").expect("a result");
    let row: Value = serde_json::from_str(&text).expect(&text);
    row["n"].as_i64().expect(&text)
}

async fn subscribed(broker: &BrokerHandle) {
    until("a subscription", || broker.stats().subscriptions_now > 0).await;
}

async fn publish(link: &LinkHandle, text: &str) {
    link.publish("t", text.to_owned(), QoS::AtLeastOnce, false).await.expect("publishes");
}

fn node(engine: &Engine, rule: &str, start: &str) -> NodeReport {
    let found = engine.metrics(rule).into_iter().find(|n| n.name.starts_with(start));
    found.unwrap_or_else(|| panic!("no node {start} in {:?}", engine.metrics(rule)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_gets_all_in_order() {
    let (broker, engine) = (broker("127.0.0.1:0").await, engine());
    let mut rx = start(&engine, &stream(&broker, false, json!({})), "r", 1);
    let held = broker.link("publisher").expect("a link");
    let link = held.handle();
    subscribed(&broker).await;
    let sending = tokio::spawn(async move {
        for n in 0..2000 {
            publish(&link, &format!(r#"{{"n":{n}}}"#)).await;
        }
    });
    assert_eq!(next(&mut rx).await, 0);
    for n in 1..2000 {
        assert_eq!(next(&mut rx).await, n);
    }
    sending.await.expect("sends");
    assert_eq!(node(&engine, "r", "sink_").exceptions, 0);
    engine.stop("r").await;
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn malformed_payloads_are_counted_and_harm_no_neighbour() {
    let (broker, engine) = (broker("127.0.0.1:0").await, engine());
    let mut rx = start(&engine, &stream(&broker, false, json!({})), "r", 5000);
    let held = broker.link("publisher").expect("a link");
    let link = held.handle();
    subscribed(&broker).await;
    for n in 0..100 {
        publish(&link, &format!(r#"{{"n":{n}}}"#)).await;
        publish(&link, r#"{"n":"#).await;
    }
    assert_eq!(next(&mut rx).await, 0);
    for n in 1..100 {
        assert_eq!(next(&mut rx).await, n);
    }
    let failed = || engine.metrics("r").iter().map(|n| n.exceptions).max().unwrap_or(0);
    until("a hundred failures", || failed() == 100).await;
    engine.stop("r").await;
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_id_used_twice_is_refused_by_name() {
    let (broker, engine) = (broker("127.0.0.1:0").await, engine());
    let catalog = stream(&broker, false, json!({"clientid": "pump-7"}));
    let _first = start(&engine, &catalog, "first", 10);
    subscribed(&broker).await; // or the second may come first
    let action = ActionSpec { typ: "nop".into(), props: Props::default() };
    let sql = "SELECT n FROM s".into();
    let spec = RuleSpec { id: "second".into(), sql, actions: vec![action], ..RuleSpec::default() };
    let (tx, mut ended) = mpsc::channel(1);
    let started = engine.start(&spec, &catalog, Box::new(move |end| {
        let _ = tx.try_send(format!("{end:?}"));
    }));
    let why = match started {
        Err(error) => error.to_string(),
        Ok(()) => tokio::time::timeout(PATIENCE, ended.recv()).await.expect("ends").expect("why"),
    };
    assert!(why.contains("pump-7") && why.contains("first"), "{why}");
    engine.shutdown().await;
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_comes_back_is_subscribed_again() {
    let (first, engine) = (broker("127.0.0.1:0").await, engine());
    let at = first.local_addr().expect("a listener").to_string();
    let mut rx = start(&engine, &stream(&first, false, json!({})), "r", 50_000);
    subscribed(&first).await;
    first.shutdown().await;
    let again = broker(&at).await;
    let held = again.link("publisher").expect("a link");
    let link = held.handle();
    subscribed(&again).await;
    publish(&link, r#"{"n":7}"#).await;
    assert_eq!(next(&mut rx).await, 7);
    engine.stop("r").await;
    again.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stuck_sink_drops_and_counts_while_its_neighbour_goes_on() {
    let (broker, engine) = (broker("127.0.0.1:0").await, engine());
    let catalog = stream(&broker, true, json!({"qos": 1}));
    let stuck = start(&engine, &catalog, "stuck", 1);
    let mut rx = start(&engine, &catalog, "good", 10_000);
    let held = broker.link("publisher").expect("a link");
    let link = held.handle();
    subscribed(&broker).await;
    let dropped = || node(&engine, "stuck", "sink_").exceptions;
    let wait = async {
        while dropped() == 0 {
            for _ in 0..100 {
                publish(&link, r#"{"n":1}"#).await;
            }
            while rx.try_recv().is_ok() {}
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("drops are counted");
    // again and again: the broker drops (and counts) what comes faster than the stream reads
    let arrives = async {
        loop {
            publish(&link, r#"{"n":2}"#).await;
            while let Ok(text) = rx.try_recv() {
                if text.contains('2') {
                    return;
                }
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, arrives).await.expect("the neighbour goes on");
    assert_eq!(node(&engine, "good", "sink_").exceptions, 0);
    drop(stuck);
    engine.shutdown().await;
    let sink = node(&engine, "stuck", "sink_");
    assert!(sink.last_exception.contains("buffer full"), "{}", sink.last_exception);
    broker.shutdown().await;
}

/// States in memory.
#[derive(Default)]
struct Kept(std::sync::Mutex<std::collections::HashMap<String, Vec<u8>>>);

impl rekuiper_flow::StateStore for Kept {
    fn put(&self, rule: &str, state: Vec<u8>) {
        self.0.lock().expect("a lock").insert(rule.into(), state);
    }
    fn get(&self, rule: &str) -> Option<Vec<u8>> {
        self.0.lock().expect("a lock").get(rule).cloned()
    }
    fn remove(&self, rule: &str) {
        self.0.lock().expect("a lock").remove(rule);
    }
}

/// Publishes `before` messages, stops the rule, starts it on a new engine over the same states and
/// publishes one more: the count that comes out.
async fn counted_over_a_stop(qos: i64, before: usize) -> Option<i64> {
    let broker = broker("127.0.0.1:0").await;
    let catalog = stream(&broker, false, json!({}));
    let kept: Arc<Kept> = Arc::default();
    let held = broker.link("publisher").expect("a link");
    let mut out = None;
    for round in 0..2 {
        let services = Services::new(Clock::Real, ".".into(), ".".into());
        let own = EngineConfig::new(Clock::Real, services);
        let engine = Engine::new(EngineConfig { states: Some(kept.clone()), ..own });
        let (tx, mut rx) = mpsc::channel(10);
        engine.config.services.embedded.collect_texts("r", tx);
        let sink = props(json!({"sendSingle": true}));
        let spec = RuleSpec {
            id: "r".into(),
            sql: "SELECT count(*) AS n FROM s GROUP BY COUNTWINDOW(4)".into(),
            actions: vec![ActionSpec { typ: "$embed".into(), props: sink }],
            plan: rekuiper_plan::RuleOptions { qos, ..Default::default() },
            ..RuleSpec::default()
        };
        engine.start(&spec, &catalog, Box::new(|_| ())).expect("starts");
        subscribed(&broker).await;
        let messages = if round == 0 { before } else { 1 };
        for _ in 0..messages {
            publish(&held.handle(), r#"{"k":1}"#).await;
        }
        until("all are in", || node(&engine, "r", "op_3_window").records_in == messages as u64).await;
        engine.stop("r").await;
        let text = rx.recv().await;
        out = text.and_then(|t| serde_json::from_str::<Value>(&t).ok()?["n"].as_i64());
        until("the subscription is gone", || broker.stats().subscriptions_now == 0).await;
    }
    broker.shutdown().await;
    out
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_goes_on_after_a_stop_where_qos_promises_it() {
    assert_eq!(counted_over_a_stop(1, 3).await, Some(4));
    assert_eq!(counted_over_a_stop(0, 3).await, None, "without qos it begins anew");
}
