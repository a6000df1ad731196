//! Traces on their way to a collector: OTLP over HTTP, in its JSON form.

use std::time::Duration;

use rekuiper_connect::http::{Call, HttpClient, parse_url};
use rekuiper_connect::{Props, Services};
use rekuiper_rt::Clock;
use rekuiper_rt::task::{self, Task};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{EngineError, EngineResult};

/// Traces that may wait; what comes then is dropped and counted.
const WAITING: usize = 1024;
const SPANS_A_REQUEST: usize = 512;
const ANSWER_WITHIN_MS: i64 = 10_000;
/// How long nothing is sent after the collector could not be reached.
const PAUSE: Duration = Duration::from_secs(5);

/// Ends with its value.
pub struct Exporter {
    _task: Task,
}

/// Where traces are handed in; never waits.
pub type Door = Box<dyn Fn(Value) + Send + Sync>;

/// `collector` is an address or `host:port`; `inside` lets it lie in a private network.
pub fn start(service: &str, collector: &str, inside: bool) -> EngineResult<(Exporter, Door)> {
    let url = match collector.contains("://") {
        true => collector.trim_end_matches('/').to_owned(),
        false => format!("http://{collector}"),
    };
    let has_path = url.splitn(4, '/').nth(3).is_some();
    let url = if has_path { url } else { format!("{url}/v1/traces") };
    let bad = |e: rekuiper_connect::ConnectError| {
        EngineError::undefined(format!("collector_url {collector:?}: {}", e.text))
    };
    let url = parse_url(&url).map_err(bad)?;
    let tls = rekuiper_connect::tls::client_config(&Props::default()).map_err(bad)?;
    let services = Services::new(Clock::Real, Default::default(), Default::default());
    services.private_net.store(inside, std::sync::atomic::Ordering::Relaxed);
    let (hand_in, mut waiting) = mpsc::channel::<Value>(WAITING);
    let service = service.to_owned();
    let work = async move {
        let client = HttpClient::new(tls);
        let mut first = Vec::new();
        while waiting.recv_many(&mut first, SPANS_A_REQUEST / 8).await > 0 {
            let mut spans = Vec::new();
            first.drain(..).for_each(|tree| flatten(&tree, &mut spans));
            let body = request(&service, spans).to_string().into();
            let mut headers = axum::http::HeaderMap::new();
            let kind = axum::http::HeaderValue::from_static("application/json");
            headers.insert("content-type", kind);
            let (method, url) = (axum::http::Method::POST, url.clone());
            let call = Call { method, url, headers, body };
            let trouble = match client.send(&services, call, ANSWER_WITHIN_MS).await {
                Ok(answer) if answer.status.is_success() => continue,
                Ok(answer) => format!("it answered {}", answer.status),
                Err(e) => e.text.to_string(),
            };
            tracing::warn!("traces cannot be sent to the collector, some are lost: {trouble}");
            tokio::time::sleep(PAUSE).await;
        }
    };
    let door = move |trace| {
        // a collector that is slow costs traces, never rows
        let _ = hand_in.try_send(trace);
    };
    Ok((Exporter { _task: task::spawn("traces to a collector", work) }, Box::new(door)))
}

fn request(service: &str, spans: Vec<Value>) -> Value {
    json!({"resourceSpans": [{
        "resource": {"attributes": [text("service.name", service)]},
        "scopeSpans": [{"scope": {"name": "rekuiper"}, "spans": spans}],
    }]})
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// The spans of a tree, parents first.
fn flatten(tree: &Value, out: &mut Vec<Value>) {
    let word = |key: &str| tree[key].as_str().unwrap_or_default();
    let nanos = |key: &str| {
        let time: Option<jiff::Timestamp> = word(key).parse().ok();
        time.unwrap_or_default().as_nanosecond().to_string()
    };
    let root = word("parentSpanID").bytes().all(|b| b == b'0');
    let attributes = tree["attribute"].as_object().into_iter().flatten();
    let attributes = attributes.map(|(k, v)| text(k, v.as_str().unwrap_or_default()));
    out.push(json!({
        "traceId": word("traceID"),
        "spanId": word("spanID"),
        "parentSpanId": if root { "" } else { word("parentSpanID") },
        "name": word("name"),
        "kind": 1,
        "startTimeUnixNano": nanos("startTime"),
        "endTimeUnixNano": nanos("endTime"),
        "attributes": attributes.collect::<Vec<_>>(),
    }));
    for below in tree["ChildSpan"].as_array().into_iter().flatten() {
        flatten(below, out);
    }
}
