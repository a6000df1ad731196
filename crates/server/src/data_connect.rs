//! The data server as connectors see it.

use axum::http::Method;
use bytes::Bytes;
use rekuiper_connect::data_server::{Deliver, Registration, SendAll};
use std::sync::Arc;

use crate::data_server::{DataServer, Events};

fn send_all(events: Events) -> SendAll {
    Arc::new(move |event: Bytes| events.send(event))
}

impl rekuiper_connect::DataServer for DataServer {
    fn push(&self, path: &str, method: Method, to: Deliver) -> Result<Registration, String> {
        DataServer::push(self, path, method, to).map(Registration::new)
    }

    fn events(&self, path: &str) -> Result<(SendAll, Registration), String> {
        let (events, held) = DataServer::events(self, path)?;
        Ok((send_all(events), Registration::new(held)))
    }

    fn socket(&self, path: &str, to: Option<Deliver>) -> Result<(SendAll, Registration), String> {
        let (events, held) = DataServer::socket(self, path, to)?;
        Ok((send_all(events), Registration::new(held)))
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::extract::Request;
    use rekuiper_connect::{
        ConnStatus, Opened, Props, Services, SinkBatch, SinkCx, SinkData, SourceCx, SourceItem,
        SourceOut, find,
    };
    use rekuiper_rt::{Clock, queue};
    use rekuiper_value::batch::Payloads;

    use super::*;

    fn world() -> (DataServer, Arc<Services>) {
        let (clock, _) = Clock::manual(5);
        let services = Services::new(clock, "".into(), "".into());
        let data = DataServer::new(0);
        let _ = services.data_server.set(Arc::new(data.clone()));
        (data, services)
    }

    fn post(path: &str, body: &'static str) -> Request {
        Request::post(path).body(Body::from(body)).unwrap()
    }

    #[tokio::test]
    async fn bodies_of_requests_reach_an_httppush_source() {
        let (data, services) = world();
        let make = find("httppush").unwrap().source.unwrap();
        let Ok(Opened::Source(source)) = make("/in", &Props::default()) else { panic!() };
        let (tx, mut rx) = queue::bounded::<SourceItem>("t", 10, 1000);
        let cx = SourceCx {
            clock: services.clock.clone(),
            services,
            status: Arc::new(ConnStatus::default()),
            rule: "r".into(),
            stream: "s".into(),
            offset: None,
        };
        let running = tokio::spawn(source.run(cx, SourceOut { tx }));
        tokio::task::yield_now().await;
        let answer = data.clone().answer(post("/in", "{\"a\":1}")).await;
        assert_eq!(answer.status(), 200);
        let Some(SourceItem::Batch(batch)) = rx.recv().await else { panic!() };
        let Payloads::Bytes { bytes, msgs } = batch.payloads else { panic!() };
        assert_eq!((&bytes[..], msgs.len(), batch.ts), (&b"{\"a\":1}"[..], 1, 5));
        drop(rx);
        assert!(running.await.unwrap().is_ok());
        assert_eq!(data.answer(post("/in", "")).await.status(), 404);
    }

    #[tokio::test]
    async fn an_sse_sink_with_only_an_endpoint_is_served() {
        use http_body_util::BodyExt;
        let (data, services) = world();
        let make = find("sse").unwrap().sink.unwrap();
        let serde_json::Value::Object(map) = serde_json::json!({"endpoint": "/ev"}) else {
            panic!()
        };
        let Ok(Opened::Sink(mut sink)) = make(&Props::new(map)) else { panic!() };
        let cx = SinkCx {
            clock: services.clock.clone(),
            services,
            status: Arc::new(ConnStatus::default()),
            rule: "r".into(),
            op: "sse_0".into(),
        };
        sink.open(&cx).await.unwrap();
        let get = Request::get("/ev").body(Body::empty()).unwrap();
        let mut answer = data.clone().answer(get).await.into_body();
        let (buf, ends) = (b"[1]\n".to_vec(), vec![3]);
        let payload = SinkData::Bytes { buf, ends, props: vec![], header: None };
        sink.write(&SinkBatch { data: payload, ack: None }, 0).await.unwrap();
        let mut text = String::new();
        while !text.contains("data: [1]\n\n") {
            let frame = answer.frame().await.unwrap().unwrap().into_data().unwrap();
            text.push_str(&String::from_utf8_lossy(&frame));
        }
        sink.close().await.unwrap();
        let get = Request::get("/ev").body(Body::empty()).unwrap();
        assert_eq!(data.answer(get).await.status(), 404);
    }
}
