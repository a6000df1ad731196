//! Columns of message metadata: `meta(topic)`, `meta(*)`.

use std::sync::Arc;

use bytes::Bytes;
use rekuiper_value::batch::{Msg, SourceRow};
use rekuiper_value::{Cell, CellKind, Column, Object, Str, Value};

/// The metadata of a batch's messages, whatever they are.
pub enum Metas<'a> {
    Msgs { bytes: &'a Bytes, msgs: &'a [Msg] },
    Rows(&'a [SourceRow]),
}

/// The metadata that all messages share, and how rows map to messages.
pub struct MetaOf<'a> {
    pub metas: Metas<'a>,
    pub shared: Option<&'a Arc<Object>>,
    pub row_msgs: &'a [u32],
}

impl MetaOf<'_> {
    /// The column of one key.
    pub fn column(&self, key: &Str) -> Column {
        if key == "topic"
            && let Some(column) = self.topics()
        {
            return column;
        }
        Column::values(self.row_msgs.iter().map(|msg| self.value(*msg as usize, key)).collect())
    }

    /// All metadata as an object a row.
    pub fn whole(&self) -> Column {
        let mut last: Option<(u32, Value)> = None;
        let mut values = Vec::with_capacity(self.row_msgs.len());
        for &msg in self.row_msgs {
            let value = match last.take() {
                Some((of, value)) if of == msg => value,
                _ => self.object(msg as usize),
            };
            values.push(value.clone());
            last = Some((msg, value));
        }
        Column::values(values)
    }

    /// Topics as cells into the batch's bytes, if every message has one.
    fn topics(&self) -> Option<Column> {
        let Metas::Msgs { bytes, msgs } = &self.metas else { return None };
        let mut cells = Vec::with_capacity(self.row_msgs.len());
        for &msg in self.row_msgs {
            let (off, len) = msgs.get(msg as usize)?.meta.topic;
            if len == 0 {
                return None;
            }
            cells.push(Cell::new(CellKind::Text, off as usize, len as usize));
        }
        Some(Column::cells((*bytes).clone(), cells, false))
    }

    fn value(&self, msg: usize, key: &str) -> Value {
        let own = match &self.metas {
            Metas::Msgs { bytes, msgs } => msgs.get(msg).map(|m| msg_value(m, bytes, key)),
            Metas::Rows(rows) => rows.get(msg).and_then(|r| r.meta.as_ref()?.get(key).cloned()),
        };
        match own {
            None | Some(Value::Missing) => {
                self.shared.and_then(|o| o.get(key)).cloned().unwrap_or_default()
            }
            Some(value) => value,
        }
    }

    fn object(&self, msg: usize) -> Value {
        let mut all = self.shared.map(|o| (**o).clone()).unwrap_or_default();
        match &self.metas {
            Metas::Msgs { bytes, msgs } => {
                let Some(m) = msgs.get(msg) else { return Value::object(all) };
                for key in ["topic", "qos", "messageId"] {
                    let value = msg_value(m, bytes, key);
                    if !value.is_missing() {
                        all.insert(Str::from(key), value);
                    }
                }
                if let Some(extra) = &m.meta.extra {
                    all.extend(extra.iter().map(|(k, v)| (k.clone(), v.clone())));
                }
            }
            Metas::Rows(rows) => {
                if let Some(meta) = rows.get(msg).and_then(|r| r.meta.as_ref()) {
                    if all.is_empty() {
                        return Value::Object(meta.clone());
                    }
                    all.extend(meta.iter().map(|(k, v)| (k.clone(), v.clone())));
                }
            }
        }
        Value::object(all)
    }
}

/// MQTT's own metadata is there when the message has a topic.
fn msg_value(msg: &Msg, bytes: &[u8], key: &str) -> Value {
    let (off, len) = (msg.meta.topic.0 as usize, msg.meta.topic.1 as usize);
    if let Some(value) = msg.meta.extra.as_ref().and_then(|extra| extra.get(key)) {
        return value.clone();
    }
    match key {
        "topic" | "qos" | "messageId" if len == 0 => Value::Missing,
        "topic" => {
            let text = bytes.get(off..off + len).unwrap_or(&[]);
            Value::Str(String::from_utf8_lossy(text).as_ref().into())
        }
        "qos" => Value::Int(i64::from(msg.meta.qos)),
        "messageId" => Value::Int(i64::from(msg.meta.packet_id)),
        _ => Value::Missing,
    }
}
