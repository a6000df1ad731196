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
    // behind a pointer: most lanes have bytes alone, and there are many lanes
    more: Option<Box<More>>,
}

/// What only some lanes have.
#[derive(Clone, Default)]
pub struct More {
    pub props: Vec<Vec<Str>>,
    pub rows: Vec<Arc<Vec<Object>>>,
    pub columns: Vec<Arc<SourceColumns>>,
    pub header: Option<Arc<str>>,
}

impl Ready {
    pub fn is_empty(&self) -> bool {
        let none = |more: &More| more.rows.is_empty() && more.columns.is_empty();
        self.ends.is_empty() && self.more.as_deref().is_none_or(none)
    }

    pub fn more(&mut self) -> &mut More {
        self.more.get_or_insert_default()
    }

    /// The first row, where there are rows.
    pub fn first_row(&self) -> Option<&Object> {
        self.more.as_ref()?.rows.first()?.first()
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
        Ready { buf: self.buf.clone(), ends: self.ends.clone(), more: self.more.clone() }
    }

    pub fn into_batch(self, ack: Option<Ack>) -> SinkBatch {
        let Ready { buf, ends, more } = self;
        let More { props, rows, columns, header } = more.map(|more| *more).unwrap_or_default();
        let data = if !columns.is_empty() {
            SinkData::Columns(columns)
        } else if rows.is_empty() {
            SinkData::Bytes { buf, ends, props, header }
        } else {
            SinkData::Rows { emissions: rows, props }
        };
        SinkBatch { data, ack }
    }
}
