//! `httppull`: asks a web server for rows again and again, or once for each lookup.

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::header::{self, HeaderValue};
use md5::{Digest, Md5};
use rekuiper_rt::limits::BATCH_MESSAGES_MAX;
use rekuiper_value::batch::{Payloads, RawBatch, SourceRow};
use rekuiper_value::{Object, Str, Value};

use crate::http::{BodyType, Call, HttpConf, MaybeTemplate, header_templates, headers_of};
use crate::http::{object_of, parse_url};
use crate::memory::lookup::matches;
use crate::traits::{BoxFuture, Lookup, Opened, Position, Source, SourceCx, SourceOut, next_tick};
use crate::{ConnectError, ConnectorDef, Fault, Props, Services};

pub static CONNECTOR: ConnectorDef =
    ConnectorDef { name: "httppull", source: Some(source), sink: None, lookup: Some(lookup) };

fn source(datasource: &str, props: &Props) -> Result<Opened, ConnectError> {
    let interval_ms = props.millis("interval", 0)?.max(0);
    let incremental = props.bool("incremental", false)?;
    let pull = Pull::new(datasource, props)?;
    Ok(Opened::Source(Box::new(HttpPull { pull, interval_ms, incremental, last: None })))
}

fn lookup(datasource: &str, _key: &str, props: &Props) -> Result<Opened, ConnectError> {
    let pull = Pull::new(datasource, props)?;
    Ok(Opened::Lookup(Arc::new(HttpLookup { pull, services: Mutex::new(None) })))
}

/// One configured request.
struct Pull {
    conf: HttpConf,
    url: MaybeTemplate,
    headers: Vec<(String, MaybeTemplate)>,
    body: MaybeTemplate,
    states: Arc<States>,
}

/// What the next request is made with; its position.
struct States(Mutex<Object>);

impl States {
    fn lock(&self) -> MutexGuard<'_, Object> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Members of an answer that are states are the states of the next request.
    fn learn(&self, row: &Object) {
        for (name, state) in &mut *self.lock() {
            if let Some(value) = row.get(name) {
                *state = value.clone();
            }
        }
    }
}

impl Position for States {
    fn get(&self) -> Value {
        Value::object(self.lock().clone())
    }

    fn reset(&self, to: &Object) -> Result<(), ConnectError> {
        let odd = {
            let known = self.lock();
            to.keys().find(|name| !known.contains_key(*name)).cloned()
        };
        if let Some(name) = odd {
            return Err(ConnectError::config(format!(
                "{name} is no state of the httppull source: name it in its property states"
            )));
        }
        self.learn(to);
        Ok(())
    }
}

impl Pull {
    fn new(datasource: &str, props: &Props) -> Result<Pull, ConnectError> {
        let conf = HttpConf::new(props, datasource)?;
        Ok(Pull {
            url: MaybeTemplate::new("url", &conf.url)?,
            headers: header_templates(props, "headers")?,
            body: MaybeTemplate::new("body", props.str_or("body", "")?)?,
            states: Arc::new(States(Mutex::new(object_of(&props.map("states")?)))),
            conf,
        })
    }

    async fn fetch(&self, services: &Services) -> Result<Bytes, ConnectError> {
        let url = parse_url(&self.url.render(&self.states.get())?)?;
        let token = match &self.conf.oauth {
            Some(oauth) => {
                oauth.token(services, &self.conf.client, self.conf.timeout_ms).await?
            }
            None => Value::object(Object::new()),
        };
        let texts: Result<Vec<_>, ConnectError> =
            self.headers.iter().map(|(k, t)| Ok((k.clone(), t.render(&token)?))).collect();
        let mut headers = headers_of(texts?)?;
        let body = match self.conf.body_type {
            BodyType::None => Bytes::new(),
            kind => {
                if let Some(kind) = kind.content_type() {
                    headers
                        .entry(header::CONTENT_TYPE)
                        .or_insert(HeaderValue::from_static(kind));
                }
                self.body.render(&token)?.into()
            }
        };
        let call = Call { method: self.conf.method.clone(), url, headers, body };
        let answer = self.conf.call(services, call).await;
        if answer.is_err()
            && let Some(oauth) = &self.conf.oauth
        {
            oauth.forget().await;
        }
        answer
    }
}

struct HttpPull {
    pull: Pull,
    interval_ms: i64,
    incremental: bool,
    /// Digest of the last answer.
    last: Option<[u8; 16]>,
}

impl HttpPull {
    /// The rows of a request; none when the answer is the same as before.
    async fn rows(&mut self, cx: &SourceCx) -> Result<Vec<Arc<Object>>, ConnectError> {
        cx.status.trying(cx.clock.now_ms());
        let body = self.pull.fetch(&cx.services).await?;
        cx.status.connected(cx.clock.now_ms());
        if self.incremental {
            let digest: [u8; 16] = Md5::digest(&body).into();
            if self.last.replace(digest) == Some(digest) {
                return Ok(Vec::new());
            }
        }
        let rows = self.pull.conf.rows(&body)?;
        rows.iter().for_each(|row| self.pull.states.learn(row));
        Ok(rows)
    }
}

impl Source for HttpPull {
    fn follows(&self) -> &'static [&'static str] {
        &["interval"]
    }

    fn position(&self) -> Option<Arc<dyn Position>> {
        let known = !self.pull.states.lock().is_empty();
        known.then(|| self.pull.states.clone() as Arc<dyn Position>)
    }

    fn gives_rows(&self) -> bool {
        true
    }

    fn run<'a>(
        mut self: Box<Self>,
        cx: SourceCx,
        out: SourceOut,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        Box::pin(async move {
            if let Some(Value::Object(saved)) = &cx.offset {
                self.pull.states.learn(saved);
            }
            let mut next = cx.clock.now_ms();
            loop {
                match self.rows(&cx).await {
                    Ok(rows) => {
                        let ts = cx.clock.now_ms();
                        for rows in rows.chunks(BATCH_MESSAGES_MAX) {
                            let row = |data: &Arc<Object>| SourceRow {
                                data: data.clone(),
                                meta: None,
                                ts,
                            };
                            let payloads = Payloads::Rows(rows.iter().map(row).collect());
                            let batch = RawBatch { payloads, meta: None, ts, ack: None };
                            if out.send(batch).await.is_err() {
                                return Ok(());
                            }
                        }
                    }
                    Err(e) => {
                        if e.fault == Fault::Io {
                            cx.status.disconnected(cx.clock.now_ms(), &e.text);
                        }
                        if out.error(e.text).await.is_err() {
                            return Ok(());
                        }
                    }
                }
                if self.interval_ms == 0 {
                    return Ok(());
                }
                next = next_tick(next, self.interval_ms, cx.clock.now_ms());
                cx.clock.sleep_until(next).await;
            }
        })
    }
}

struct HttpLookup {
    pull: Pull,
    services: Mutex<Option<Arc<Services>>>,
}

impl Lookup for HttpLookup {
    fn open<'a>(&'a self, cx: &'a SourceCx) -> BoxFuture<'a, Result<(), ConnectError>> {
        let mut services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        *services = Some(cx.services.clone());
        cx.status.connected(cx.clock.now_ms());
        Box::pin(async { Ok(()) })
    }

    fn find<'a>(
        &'a self,
        keys: &'a [(Str, Value)],
    ) -> BoxFuture<'a, Result<Vec<Arc<Object>>, ConnectError>> {
        let services = self.services.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Box::pin(async move {
            let Some(services) = services else {
                return Err(ConnectError::io("the lookup table is not open"));
            };
            let mut rows = self.pull.conf.rows(&self.pull.fetch(&services).await?)?;
            rows.retain(|row| matches(row, keys));
            Ok(rows)
        })
    }
}
