//! `rest`: a sink that sends each result to a web server.

use bytes::Bytes;
use http::header::{self, HeaderValue};
use rekuiper_value::Value;
use serde_json::Value as Json;

use crate::http::{BodyType, Call, HttpConf, MaybeTemplate, header_texts, headers_of, method};
use crate::http::{multipart, parse_url};
use crate::traits::{BoxFuture, Opened, Sink, SinkBatch, SinkCx};
use crate::{ConnectError, ConnectorDef, Props};

pub static CONNECTOR: ConnectorDef =
    ConnectorDef { name: "rest", source: None, sink: Some(sink), lookup: None };

/// Properties that may be templates over the results.
const TEMPLATED: &[&str] = &["url", "method", "bodyType", "headers", "formData"];
/// The same where headers are templates over the OAuth token.
const TEMPLATED_OAUTH: &[&str] = &["url", "method", "bodyType", "formData"];

pub(crate) fn sink(props: &Props) -> Result<Opened, ConnectError> {
    let conf = HttpConf::new(props, "")?;
    let format = props.str_or("format", "json")?;
    let needs = match conf.body_type {
        BodyType::Json => "json",
        BodyType::Form => "urlencoded",
        _ => format,
    };
    if !format.eq_ignore_ascii_case(needs) {
        return Err(ConnectError::config(format!(
            "bodyType {} needs format {needs}, found format {format}",
            props.str_or("bodyType", "json")?
        )));
    }
    let has_templates = TEMPLATED.iter().any(|key| holds_template(props, key));
    let headers = header_texts(props, "headers")?;
    let token_headers = match conf.oauth {
        None => Vec::new(),
        Some(_) => {
            let made = headers.iter().map(|(k, v)| Ok((k.clone(), MaybeTemplate::new(k, v)?)));
            made.collect::<Result<Vec<_>, ConnectError>>()?
        }
    };
    let templated = match (has_templates, &conf.oauth) {
        (false, _) => &[][..],
        (true, None) => TEMPLATED,
        (true, Some(_)) => TEMPLATED_OAUTH,
    };
    Ok(Opened::Sink(Box::new(Rest {
        conf,
        headers,
        token_headers,
        templated,
        form: header_texts(props, "formData")?,
        file_field: props.str_or("fileFieldName", "")?.to_owned(),
        cx: None,
    })))
}

fn holds_template(props: &Props, key: &str) -> bool {
    match props.get(key) {
        Some(Json::String(text)) => text.contains("{{"),
        Some(Json::Object(map)) => {
            map.values().any(|v| v.as_str().is_some_and(|t| t.contains("{{")))
        }
        _ => false,
    }
}

struct Rest {
    conf: HttpConf,
    headers: Vec<(String, String)>,
    token_headers: Vec<(String, MaybeTemplate)>,
    templated: &'static [&'static str],
    form: Vec<(String, String)>,
    file_field: String,
    cx: Option<SinkCx>,
}

impl Rest {
    /// The value of a templated property for payload `i`; `None` where it is as configured.
    fn prop<'a>(&self, batch: &'a SinkBatch, i: usize, key: &str) -> Option<&'a str> {
        let at = self.templated.iter().position(|k| *k == key)?;
        batch.prop(i, at).map(|text| text.as_str()).filter(|text| !text.is_empty())
    }

    /// A map of texts that came as JSON.
    fn map(&self, batch: &SinkBatch, i: usize, key: &str) -> Option<Vec<(String, String)>> {
        let text = self.prop(batch, i, key)?;
        let map: serde_json::Map<String, Json> = serde_json::from_str(text).ok()?;
        let plain = |v: &Json| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
        Some(map.iter().map(|(k, v)| (k.clone(), plain(v))).collect())
    }

    async fn send(&self, cx: &SinkCx, batch: &SinkBatch, i: usize) -> Result<(), ConnectError> {
        let data = |e: ConnectError| ConnectError::data(e.text);
        let url = parse_url(self.prop(batch, i, "url").unwrap_or(&self.conf.url))?;
        let method = match self.prop(batch, i, "method") {
            Some(word) => method(word).map_err(data)?,
            None => self.conf.method.clone(),
        };
        let body_type = match self.prop(batch, i, "bodyType") {
            Some(word) => BodyType::by_name(word).map_err(data)?,
            None => self.conf.body_type,
        };
        let headers = match &self.conf.oauth {
            None => self.map(batch, i, "headers").unwrap_or_else(|| self.headers.clone()),
            Some(oauth) => {
                let conf = &self.conf;
                let token = oauth.token(&cx.services, &conf.client, conf.timeout_ms).await?;
                self.with_token(&token)?
            }
        };
        let mut headers = headers_of(headers)?;
        let mut kind = body_type.content_type().map(str::to_owned);
        let body = match body_type {
            BodyType::None => Bytes::new(),
            BodyType::Formdata => {
                let fields = self.map(batch, i, "formData").unwrap_or_else(|| self.form.clone());
                let name = cx.clock.now_ms().to_string();
                let (of, body) = multipart(&fields, &self.file_field, &name, batch.payload(i));
                kind = Some(of);
                body
            }
            _ => Bytes::copy_from_slice(batch.payload(i)),
        };
        if let Some(kind) = kind.and_then(|kind| HeaderValue::from_str(&kind).ok()) {
            headers.entry(header::CONTENT_TYPE).or_insert(kind);
        }
        // payloads come compressed where `compression` is set
        let encoding = match self.conf.packed {
            Some(rekuiper_formats::codec::Compression::Gzip) => Some("gzip"),
            Some(rekuiper_formats::codec::Compression::Zstd) => Some("zstd"),
            _ => None,
        };
        if let Some(encoding) = encoding.filter(|_| !body.is_empty()) {
            headers
                .entry(header::CONTENT_ENCODING)
                .or_insert(HeaderValue::from_static(encoding));
        }
        let answer = self.conf.call(&cx.services, Call { method, url, headers, body }).await?;
        if self.conf.code_in_body {
            self.conf.rows(&answer)?;
        }
        Ok(())
    }

    fn with_token(&self, token: &Value) -> Result<Vec<(String, String)>, ConnectError> {
        self.token_headers.iter().map(|(k, t)| Ok((k.clone(), t.render(token)?))).collect()
    }
}

impl Sink for Rest {
    fn open<'a>(&'a mut self, cx: &'a SinkCx) -> BoxFuture<'a, Result<(), ConnectError>> {
        // nothing is sent before there is a result, so there is nothing to connect yet
        self.cx = Some(cx.clone());
        cx.status.connected(cx.clock.now_ms());
        Box::pin(async { Ok(()) })
    }

    fn write<'a>(
        &'a mut self,
        batch: &'a SinkBatch,
        from: usize,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        Box::pin(async move {
            let Some(cx) = &self.cx else {
                return Err(ConnectError::io("the rest sink is not open"));
            };
            for i in from..batch.len() {
                if let Err(e) = self.send(cx, batch, i).await {
                    if e.fault == crate::Fault::Io {
                        cx.status.disconnected(cx.clock.now_ms(), &e.text);
                    } else if let Some(oauth) = &self.conf.oauth {
                        oauth.forget().await;
                    }
                    return Err(e.after(i - from));
                }
                if cx.status.state() != 1 {
                    cx.status.connected(cx.clock.now_ms());
                }
            }
            Ok(())
        })
    }

    fn templated(&self) -> &'static [&'static str] {
        self.templated
    }
}

#[cfg(test)]
mod tests {
    use rekuiper_value::Str;
    use serde_json::json;

    use super::*;
    use crate::Fault;
    use crate::http::testing::TestServer;
    use crate::testing::{World, error_of, payloads, props, sink_of};

    async fn opened(conf: Json) -> Box<dyn Sink> {
        let world = World::new();
        world.services.private_net.store(true, std::sync::atomic::Ordering::Relaxed);
        let mut sink = sink_of(sink(&props(conf)));
        sink.open(&world.sink_cx()).await.unwrap();
        sink
    }

    async fn answering(head: &'static str) -> TestServer {
        TestServer::start(move |_| (head.to_string(), r#"{"code":201}"#.to_string())).await
    }

    #[tokio::test]
    async fn each_payload_is_a_request() {
        let server = answering("200 OK").await;
        let conf = json!({"url": format!("{}/in", server.url), "method": "POST",
                          "headers": {"X-A": "1"}, "responseType": "body"});
        let mut sink = opened(conf).await;
        assert!(sink.templated().is_empty());
        sink.write(&payloads(&["[1]", "[2]", "[3]"], vec![]), 1).await.unwrap();
        let seen = server.seen.lock().unwrap().clone();
        assert_eq!(seen.iter().map(|s| s.body.as_str()).collect::<Vec<_>>(), ["[2]", "[3]"]);
        for s in seen {
            assert_eq!(s.line, "POST /in HTTP/1.1");
            assert!(s.headers.contains(&"content-type: application/json".to_string()));
            assert!(s.headers.contains(&"x-a: 1".to_string()), "{:?}", s.headers);
        }
        assert_eq!(*server.connections.lock().unwrap(), 1);
    }

    #[tokio::test]
    async fn templated_properties_come_with_each_payload() {
        let server = answering("200 OK").await;
        let url = format!("{}/{{{{.a}}}}", server.url);
        let conf = json!({"url": url, "method": "put", "headers": {"X-A": "{{.a}}"}});
        let mut sink = opened(conf).await;
        assert_eq!(sink.templated(), TEMPLATED);
        let values = [&format!("{}/7", server.url), "put", "", r#"{"X-A":"7"}"#, ""];
        let values = values.iter().map(|v| Str::from(*v)).collect();
        sink.write(&payloads(&["[]"], vec![values]), 0).await.unwrap();
        assert_eq!(server.last().line, "PUT /7 HTTP/1.1");
        assert!(server.last().headers.contains(&"x-a: 7".to_string()));
    }

    #[tokio::test]
    async fn whose_fault_an_error_is() {
        for (head, fault) in [
            ("503 Busy", Fault::Io),
            ("429 Slow down", Fault::Io),
            ("", Fault::Io),
            ("404 Not here", Fault::Data),
            ("400 Bad", Fault::Data),
        ] {
            let server = answering(head).await;
            let mut sink = opened(json!({"url": server.url, "method": "post"})).await;
            let error = sink.write(&payloads(&["a", "b"], vec![]), 0).await.unwrap_err();
            assert_eq!((error.fault, error.written), (fault, 0), "{head}: {error}");
        }
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut sink = opened(json!({"url": format!("http://{closed}"), "method": "post"})).await;
        let error = sink.write(&payloads(&["a"], vec![]), 0).await.unwrap_err();
        assert_eq!(error.fault, Fault::Io, "a refused connection may be accepted later");
        let mut guarded = sink_of(super::sink(&props(json!({"url": format!("http://{closed}")}))));
        guarded.open(&World::new().sink_cx()).await.unwrap();
        let error = guarded.write(&payloads(&["a"], vec![]), 0).await.unwrap_err();
        assert!(error.fault != Fault::Io && error.text.contains("internal network"), "{error}");
    }

    #[tokio::test]
    async fn forms_with_a_file() {
        let server = answering("200 OK").await;
        let conf = json!({"url": server.url, "method": "post", "bodyType": "formdata",
                          "formData": {"who": "me"}, "fileFieldName": "f"});
        let mut sink = opened(conf).await;
        sink.write(&payloads(&["the payload"], vec![]), 0).await.unwrap();
        let seen = server.last();
        assert!(seen.headers.iter().any(|h| h.contains("multipart/form-data; boundary=")));
        for part in
            ["name=\"who\"\r\n\r\nme\r\n", "name=\"f\"; filename=\"1000000\"", "the payload"]
        {
            assert!(seen.body.contains(part), "{}", seen.body);
        }
    }

    #[test]
    fn refused_when_made() {
        for (conf, word) in [
            (json!({"bodyType": "json", "format": "delimited"}), "format json"),
            (json!({"bodyType": "form"}), "format urlencoded"),
            (json!({"url": "x"}), "http://"),
            (json!({"timeout": -1}), "timeout"),
        ] {
            let error = error_of(sink(&props(conf)));
            assert!(error.fault == Fault::Config && error.text.contains(word), "{error}");
        }
    }
}
