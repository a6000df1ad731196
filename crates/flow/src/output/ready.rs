//! What waits to be delivered to the sinks of a lane.

use std::sync::Arc;

use rekuiper_connect::{SinkBatch, SinkData};
use rekuiper_value::batch::{Ack, SourceColumns};
use rekuiper_value::{Object, Str};

use crate::spares;

/// Payloads that wait to be delivered.
#[derive(Default)]
pub struct Ready {
    pub buf: Vec<u8>,
    pub ends: Vec<u32>,
    pub props: Vec<Vec<Str>>,
    pub rows: Vec<Arc<Vec<Object>>>,
    pub columns: Vec<Arc<SourceColumns>>,
    pub header: Option<Arc<str>>,
}

impl Ready {
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty() && self.rows.is_empty() && self.columns.is_empty()
    }

    /// Takes a buffer that a sink gave back, where there is none yet.
    pub fn begin(&mut self) {
        if self.buf.capacity() == 0 {
            (self.buf, self.ends) = spares::take();
        }
    }

    /// Marks the end of a payload.
    pub fn end(&mut self) {
        self.ends.push(self.buf.len() as u32);
        self.buf.push(b'\n');
    }

    /// A payload that is this text.
    pub fn text(&mut self, text: &str) {
        self.buf.extend_from_slice(text.as_bytes());
        self.end();
    }

    pub fn copy(&self) -> Ready {
        Ready {
            buf: self.buf.clone(),
            ends: self.ends.clone(),
            props: self.props.clone(),
            rows: self.rows.clone(),
            columns: self.columns.clone(),
            header: self.header.clone(),
        }
    }

    pub fn into_batch(self, ack: Option<Ack>) -> SinkBatch {
        let data = if !self.columns.is_empty() {
            SinkData::Columns(self.columns)
        } else if self.rows.is_empty() {
            SinkData::Bytes {
                buf: self.buf,
                ends: self.ends,
                props: self.props,
                header: self.header,
            }
        } else {
            SinkData::Rows { emissions: self.rows, props: self.props }
        };
        SinkBatch { data, ack }
    }
}
