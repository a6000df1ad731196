//! `RawBatch`: messages as a source hands them over. `Batch`: the same decoded into columns.
//!
//! Acknowledgement travels beside the rows: whoever still needs a batch holds its [`Ack`]; when the
//! last holder lets go, the source is told.

use std::sync::Arc;

use bytes::Bytes;

use crate::{Column, Error, Object, Str, Value};

/// Held by everyone who still owes something for a batch. Dropping the last clone tells the source
/// that all sinks took it (the source implements `Drop` on what is inside).
pub type Ack = Arc<dyn std::any::Any + Send + Sync>;

/// What a source knows of one message beside its payload.
#[derive(Clone, Debug, Default)]
pub struct MsgMeta {
    /// Where the topic stands in the batch's bytes (offset, length); length 0: no topic.
    pub topic: (u32, u32),
    pub packet_id: u16,
    pub qos: u8,
    /// Further metadata (`properties`, `traceId`, …); rare.
    pub extra: Option<Arc<Object>>,
}

/// One message: where its payload stands in the batch's bytes.
#[derive(Clone, Debug, Default)]
pub struct Msg {
    pub payload: (u32, u32),
    pub meta: MsgMeta,
}

/// One row of a source that gives rows, not bytes (memory, simulator, csv file, httppull).
#[derive(Clone, Debug)]
pub struct SourceRow {
    pub data: Arc<Object>,
    pub meta: Option<Arc<Object>>,
    /// Arrival in Unix milliseconds.
    pub ts: i64,
}

/// What a source hands over: messages still to be decoded by the stream's FORMAT, or rows.
#[derive(Clone)]
pub enum Payloads {
    Bytes { bytes: Bytes, msgs: Vec<Msg> },
    Rows(Vec<SourceRow>),
    Columns(SourceColumns),
}

/// Rows held by column: of a source that has them so (an application around the engine, a table
/// file), where nothing is left to be decoded, or the results for a sink that computes on.
#[derive(Clone)]
pub struct SourceColumns {
    pub names: Arc<[Str]>,
    /// One a name, all of `rows` rows.
    pub cols: Vec<Column>,
    pub rows: usize,
}

/// A batch as a source hands it over; at most [`crate::batch::BATCH_ROWS_MAX`] messages.
#[derive(Clone)]
pub struct RawBatch {
    pub payloads: Payloads,
    /// Metadata that all messages share (a file's name); per-message metadata wins.
    pub meta: Option<Arc<Object>>,
    /// Arrival in Unix milliseconds.
    pub ts: i64,
    pub ack: Option<Ack>,
}

/// Most messages a source hands over at once; half of nothing larger ever reaches a rule.
pub const BATCH_ROWS_MAX: usize = 1024;

impl RawBatch {
    pub fn len(&self) -> usize {
        match &self.payloads {
            Payloads::Bytes { msgs, .. } => msgs.len(),
            Payloads::Rows(rows) => rows.len(),
            Payloads::Columns(columns) => columns.rows,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same messages in batches of at most `rows`, over the same bytes.
    pub fn split(self, rows: usize) -> Vec<RawBatch> {
        let part = |payloads| RawBatch {
            payloads,
            meta: self.meta.clone(),
            ts: self.ts,
            ack: self.ack.clone(),
        };
        match &self.payloads {
            Payloads::Bytes { bytes, msgs } => msgs
                .chunks(rows.max(1))
                .map(|m| part(Payloads::Bytes { bytes: bytes.clone(), msgs: m.to_vec() }))
                .collect(),
            Payloads::Rows(all) => {
                all.chunks(rows.max(1)).map(|r| part(Payloads::Rows(r.to_vec()))).collect()
            }
            Payloads::Columns(all) => all
                .split(rows.max(1))
                .map(|columns| part(Payloads::Columns(columns)))
                .collect(),
        }
    }

    /// One message a payload, copied together: for sources that are not on the hot path.
    pub fn of_payloads(payloads: &[&[u8]], ts: i64) -> Self {
        let total = payloads.iter().map(|p| p.len()).sum();
        let mut bytes = Vec::with_capacity(total);
        let mut msgs = Vec::with_capacity(payloads.len());
        for p in payloads {
            let at = bytes.len() as u32;
            bytes.extend_from_slice(p);
            msgs.push(Msg { payload: (at, p.len() as u32), meta: MsgMeta::default() });
        }
        let payloads = Payloads::Bytes { bytes: bytes.into(), msgs };
        RawBatch { payloads, meta: None, ts, ack: None }
    }
}

impl SourceColumns {
    /// The same rows in parts of at most `rows`.
    fn split(&self, rows: usize) -> impl Iterator<Item = SourceColumns> + '_ {
        (0..self.rows)
            .step_by(rows)
            .map(move |from| self.rows(from..(from + rows).min(self.rows)))
    }

    /// Some of the rows; the range must lie within them.
    pub fn rows(&self, range: std::ops::Range<usize>) -> SourceColumns {
        let cols = self.cols.iter().map(|c| c.rows(range.clone())).collect();
        SourceColumns { names: self.names.clone(), cols, rows: range.len() }
    }

    /// Takes the column of that name out, leaving nothing in its place.
    pub fn take_column(&mut self, name: &str) -> Option<Column> {
        let at = self.names.iter().rposition(|n| n == name)?;
        Some(std::mem::replace(self.cols.get_mut(at)?, Column::missing(self.rows)))
    }

    /// The column of that name; where several have it, the last one.
    pub fn column(&self, name: &str) -> Option<&Column> {
        let at = self.names.iter().rposition(|n| n == name)?;
        self.cols.get(at)
    }

    /// A row as an object; members that are missing are not in it.
    pub fn object(&self, row: usize) -> Object {
        let values = self.cols.iter().map(|c| c.value(row));
        let all = self.names.iter().cloned().zip(values);
        all.filter(|(_, value)| !value.is_missing()).collect()
    }
}

/// Timestamps of a batch's rows in Unix milliseconds.
#[derive(Clone, Debug)]
pub enum Stamps {
    Same(i64),
    Each(Vec<i64>),
}

impl Stamps {
    #[inline]
    pub fn get(&self, row: usize) -> i64 {
        match self {
            Stamps::Same(ts) => *ts,
            Stamps::Each(all) => all.get(row).copied().unwrap_or_default(),
        }
    }
}

/// Decoded rows of one stream: column `i` is the stream's field `i`.
#[derive(Clone)]
pub struct Batch {
    pub rows: usize,
    pub cols: Vec<Column>,
    pub stamps: Stamps,
    /// Messages that could not be decoded: before which row they stood, and why.
    pub errors: Vec<(u32, Error)>,
    /// Messages that this batch came from, failed ones included.
    pub messages: usize,
    pub ack: Option<Ack>,
}

impl Batch {
    pub fn value(&self, col: usize, row: usize) -> Value {
        self.cols.get(col).map(|c| c.value(row)).unwrap_or_default()
    }
}
