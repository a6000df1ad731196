//! The sink: publishes the rows of each result on a topic, which may be a template.

use std::sync::Arc;

use rekuiper_rt::Clock;
use rekuiper_rt::limits::BATCH_MESSAGES_MAX;
use rekuiper_value::{Object, Str, Value};

use super::{MemoryBus, MemoryRow, Message, RowKind};
use crate::traits::{BoxFuture, Opened, Service, Sink, SinkBatch, SinkCx, SinkData};
use crate::{ConnectError, Props};

pub fn open(props: &Props) -> Result<Opened, ConnectError> {
    // a rule without a topic is taken, as eKuiper takes it; its results then fail one by one
    let topic = Str::from(props.str_or("topic", "")?);
    let template = topic.contains("{{");
    if !template && !topic.is_empty() {
        plain(&topic).map_err(ConnectError::config)?;
    }
    let kind_field = props.str_or("rowkindField", "")?;
    let key_field = props.str_or("keyField", "")?;
    if !kind_field.is_empty() && key_field.is_empty() {
        return Err(ConnectError::config(
            "memory sink has rowkindField, so it needs keyField: the column that tells rows apart",
        ));
    }
    let changes = (!kind_field.is_empty()).then(|| (kind_field.into(), key_field.into()));
    Ok(Opened::Sink(Box::new(MemorySink { topic, template, changes, open: None })))
}

fn plain(topic: &str) -> Result<(), String> {
    match topic {
        "" => Err("the memory topic is empty".to_string()),
        t if t.contains(['+', '#']) => Err(format!(
            "invalid memory topic {topic}: wildcard found; rows are published on one topic"
        )),
        _ => Ok(()),
    }
}

struct MemorySink {
    topic: Str,
    template: bool,
    /// Columns of the row kind and of the key.
    changes: Option<(Str, Str)>,
    open: Option<(MemoryBus, Clock)>,
}

impl MemorySink {
    fn topic(&self, batch: &SinkBatch, i: usize) -> Result<Str, ConnectError> {
        if !self.template {
            plain(&self.topic).map_err(ConnectError::data)?;
            return Ok(self.topic.clone());
        }
        let topic = batch.prop(i, 0).cloned().unwrap_or_default();
        plain(&topic).map_err(ConnectError::data)?;
        Ok(topic)
    }

    fn rows(&self, emission: &[Object]) -> Result<Vec<MemoryRow>, ConnectError> {
        let row = |row: &Object| {
            let change = match &self.changes {
                None => None,
                Some((kind, key)) => Some(change(row, kind, key)?),
            };
            Ok(MemoryRow { data: Arc::new(row.clone()), change })
        };
        emission.iter().map(row).collect()
    }

    async fn publish(
        &self,
        emissions: &[Arc<Vec<Object>>],
        batch: &SinkBatch,
        from: usize,
    ) -> Result<(), ConnectError> {
        let Some((bus, clock)) = &self.open else {
            return Err(ConnectError::io("the memory sink is not open"));
        };
        let mut waiting: Option<Message> = None;
        for (i, emission) in emissions.iter().enumerate().skip(from) {
            let made = self.topic(batch, i).and_then(|t| Ok((t, self.rows(emission)?)));
            let (topic, rows) = match made {
                Ok(made) => made,
                Err(e) => {
                    if let Some(message) = waiting {
                        bus.publish(message, clock).await;
                    }
                    return Err(e.after(i - from));
                }
            };
            // results of one topic go out together
            if let Some(message) = &mut waiting
                && message.topic == topic
                && message.rows.len() + rows.len() <= BATCH_MESSAGES_MAX
            {
                Arc::make_mut(&mut message.rows).extend(rows);
                continue;
            }
            if let Some(message) = waiting.take() {
                bus.publish(message, clock).await;
            }
            waiting = Some(Message::new(topic, rows, clock.now_ms()));
        }
        if let Some(message) = waiting {
            bus.publish(message, clock).await;
        }
        Ok(())
    }
}

fn change(row: &Object, kind: &Str, key: &Str) -> Result<(RowKind, Value), ConnectError> {
    let kind = match row.get(kind) {
        None | Some(Value::Missing) => RowKind::Upsert,
        Some(Value::Str(name)) => RowKind::by_name(name).ok_or_else(|| wrong_kind(kind, name))?,
        Some(other) => return Err(wrong_kind(kind, &rekuiper_value::text::render(other))),
    };
    match row.get(key) {
        Some(value) if !value.is_missing() => Ok((kind, value.clone())),
        _ => Err(ConnectError::data(format!("the row has no column {key}, the sink's keyField"))),
    }
}

fn wrong_kind(field: &str, found: &str) -> ConnectError {
    ConnectError::data(format!(
        "invalid rowkind {found} in column {field}: it must be insert, update, upsert or delete"
    ))
}

impl Sink for MemorySink {
    fn open<'a>(&'a mut self, cx: &'a SinkCx) -> BoxFuture<'a, Result<(), ConnectError>> {
        self.open = Some((cx.services.memory.clone(), cx.clock.clone()));
        cx.status.connected(cx.clock.now_ms());
        Box::pin(async { Ok(()) })
    }

    fn service(&self) -> Service {
        Service::Lazy
    }

    fn write<'a>(
        &'a mut self,
        batch: &'a SinkBatch,
        from: usize,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        Box::pin(async move {
            match &batch.data {
                SinkData::Rows { emissions, .. } => self.publish(emissions, batch, from).await,
                SinkData::Bytes { .. } | SinkData::Columns(_) => {
                    Err(ConnectError::data("the memory sink takes rows, not encoded payloads"))
                }
            }
        })
    }

    fn takes_rows(&self) -> bool {
        true
    }

    fn templated(&self) -> &'static [&'static str] {
        if self.template { &["topic"] } else { &[] }
    }
}
