//! `Decoder`: messages as a source hands them over, into the columns that the rules read.

use std::sync::Arc;

use bytes::Bytes;
use rekuiper_value::batch::{Msg, Payloads, RawBatch, SourceColumns, SourceRow, Stamps};
use rekuiper_value::time::Pattern;
use rekuiper_value::{Batch, Column, Error, Field, Object, Result, Str, Value};

use crate::format::{binary, delimited, json, urlencoded};
use crate::meta::{MetaOf, Metas};
use crate::options::{DecodeOptions, Format};
use crate::plan::{Plan, Source};
use crate::scan::Scanner;
use crate::strict::Strict;
use crate::table::{Build, Table};
use crate::{stamp, typed};

/// Reads one stream's messages. Not shared between threads: it remembers the shape of messages.
#[derive(Debug)]
pub struct Decoder {
    options: DecodeOptions,
    format: Format,
    pattern: Option<Pattern>,
    fields: Vec<Option<Field>>,
    plan: Plan,
    scanner: Scanner,
    delimited: delimited::Slots,
}

impl Decoder {
    /// Errors are the user's: an unknown format, a bad TIMESTAMP_FORMAT, a missing SCHEMAID.
    pub fn new(options: DecodeOptions) -> Result<Self> {
        let format = Format::by_name(&options.format)?;
        let pattern = match options.timestamp.as_ref().and_then(|t| t.format.as_ref()) {
            Some(format) => Some(Pattern::new(format)?),
            None => None,
        };
        #[cfg(feature = "protobuf")]
        if format == Format::Protobuf && options.message.is_none() {
            return Err(Error::new("format protobuf needs SCHEMAID=\"schema.Message\""));
        }
        let mut decoder = Decoder {
            options,
            format,
            pattern,
            fields: Vec::new(),
            plan: Plan::default(),
            scanner: Scanner::default(),
            delimited: delimited::Slots::default(),
        };
        decoder.rebuild();
        Ok(decoder)
    }

    /// What the rules on the stream read: column `i` of the batches is field `i`; `None` is a
    /// retired one. To be called whenever that changes, between batches.
    pub fn set_fields(&mut self, fields: &[Option<Field>]) {
        if self.fields != fields {
            self.fields = fields.to_vec();
            self.rebuild();
        }
    }

    fn same(&self, a: &str, b: &str) -> bool {
        a == b || (self.options.any_case && a.eq_ignore_ascii_case(b))
    }

    fn member<'a>(&self, row: &'a Object, name: &str) -> Option<&'a Value> {
        let exact = row.get(name);
        if exact.is_some() || !self.options.any_case {
            return exact;
        }
        row.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Whether rows hold the declared columns only.
    fn declared_only(&self) -> bool {
        self.options.schema.is_some() && (self.format == Format::Json || self.options.strict)
    }

    fn rebuild(&mut self) {
        let schema = self.options.schema.as_deref().unwrap_or(&[]);
        let declared_only = self.declared_only();
        let names: Vec<Str> = match declared_only {
            true => schema.iter().map(|(name, _)| name.clone()).collect(),
            false => Vec::new(),
        };
        let any_case = self.options.any_case;
        let same = |n: &str, name: &str| n == name || (any_case && n.eq_ignore_ascii_case(name));
        let known = |name: &str| !declared_only || names.iter().any(|n| same(n, name));
        let stamp = self.options.timestamp.as_ref().map(|t| &t.column);
        self.plan = Plan::new(&self.fields, stamp, known, &names, any_case);
        self.scanner = match any_case {
            true => Scanner::any_case(&self.plan.names),
            false => Scanner::new(&self.plan.names),
        };
        self.delimited = delimited::Slots::new(&self.plan.names, &self.options.fields);
    }

    /// Decodes a batch. Messages that cannot be decoded are in the batch's `errors`.
    pub fn decode(&mut self, raw: RawBatch) -> Batch {
        let RawBatch { payloads, meta, ts, ack } = raw;
        let mut batch = match payloads {
            Payloads::Bytes { bytes, msgs } => {
                let table = self.decode_bytes(&bytes, &msgs);
                let metas = Metas::Msgs { bytes: &bytes, msgs: &msgs };
                self.finish(table, metas, meta.as_ref(), |_| ts, msgs.len())
            }
            Payloads::Rows(rows) => {
                let table = self.pick(&rows);
                let stamp = |msg: u32| rows.get(msg as usize).map_or(ts, |row| row.ts);
                self.finish(table, Metas::Rows(&rows), meta.as_ref(), stamp, rows.len())
            }
            Payloads::Columns(columns) => {
                let rows = columns.rows;
                let table = self.pick_columns_of(columns);
                self.finish(table, Metas::Rows(&[]), meta.as_ref(), |_| ts, rows)
            }
        };
        batch.ack = ack;
        batch
    }

    /// One payload as plain objects, whatever the fields are: for payloads within payloads and
    /// other cold paths. Declared types are not looked at.
    pub fn objects(&self, payload: &[u8]) -> Result<Vec<Object>> {
        match self.format {
            Format::Json => json::objects(payload, self.options.ints),
            Format::Binary => Ok(vec![binary::object(payload, &self.options)]),
            Format::Delimited => Ok(vec![delimited::object(payload, &self.options)]),
            Format::Urlencoded => Ok(vec![urlencoded::object(payload)?]),
            Format::Protobuf => self.message(payload).map(|object| vec![object]),
        }
    }

    #[cfg(feature = "protobuf")]
    fn message(&self, payload: &[u8]) -> Result<Object> {
        match &self.options.message {
            Some(message) => message.decode(payload),
            None => Err(Error::new("format protobuf needs SCHEMAID=\"schema.Message\"")),
        }
    }

    #[cfg(not(feature = "protobuf"))]
    fn message(&self, _: &[u8]) -> Result<Object> {
        Err(Error::new("this build has no protobuf"))
    }

    fn decode_bytes(&mut self, bytes: &Bytes, msgs: &[Msg]) -> Table {
        let slots = self.plan.names.len();
        // a declared stream's whole rows are put together from its columns
        let whole = self.plan.whole && !self.declared_only();
        let mut table = Table::new(bytes.clone(), slots, whole, msgs.len());
        match self.format {
            Format::Json => {
                json::scan(&mut self.scanner, &mut table, msgs);
                self.json_types(&mut table);
            }
            Format::Binary => binary::decode(&mut table, msgs, &self.plan.names, &self.options),
            Format::Delimited => {
                delimited::decode(&mut table, msgs, &self.delimited, &self.options);
            }
            Format::Urlencoded | Format::Protobuf => self.decode_objects(&mut table, msgs),
        }
        table
    }

    /// Declared types of JSON streams, or integers of schemaless ones. A member that does not fit
    /// loses its whole message.
    fn json_types(&self, table: &mut Table) {
        let mut bad = Vec::new();
        if let Some(schema) = &self.options.schema {
            for (slot, name) in self.plan.names.iter().enumerate() {
                if let Some((_, ty)) = schema.iter().find(|(n, _)| self.same(n, name)) {
                    bad.extend(typed::column(table, slot, name, ty));
                }
            }
        } else if self.options.ints {
            let bytes = table.bytes.clone();
            for build in table.slots.iter_mut().chain(table.whole.as_mut()) {
                bad.extend(typed::whole_numbers(build, &bytes));
            }
            table.ints.fill(true);
        }
        if !bad.is_empty() {
            table.reject(bad, true);
        }
    }

    /// Formats that give an object a message.
    fn decode_objects(&self, table: &mut Table, msgs: &[Msg]) {
        let bytes = table.bytes.clone();
        let mut objects = Vec::with_capacity(msgs.len());
        for (at, msg) in msgs.iter().enumerate() {
            match self.objects(payload(&bytes, msg)) {
                Ok(all) => {
                    for object in all {
                        objects.push(Arc::new(object));
                        table.row_msgs.push(at as u32);
                    }
                }
                Err(error) => table.errors.push((table.row_msgs.len() as u32, error)),
            }
        }
        self.pick_columns(table, &objects);
    }

    /// Rows of a source that gives rows.
    fn pick(&self, rows: &[SourceRow]) -> Table {
        let whole = self.plan.whole && !(self.options.strict && self.options.schema.is_some());
        let mut table = Table::new(Bytes::new(), self.plan.names.len(), whole, 0);
        table.row_msgs = (0..rows.len() as u32).collect();
        let objects: Vec<Arc<Object>> = rows.iter().map(|row| row.data.clone()).collect();
        self.pick_columns(&mut table, &objects);
        table
    }

    /// Rows of a source that gives columns: they are taken as they are.
    fn pick_columns_of(&self, mut columns: SourceColumns) -> Table {
        let whole = self.plan.whole && !(self.options.strict && self.options.schema.is_some());
        let mut table = Table::new(Bytes::new(), self.plan.names.len(), whole, 0);
        table.row_msgs = (0..columns.rows as u32).collect();
        if let Some(whole) = &mut table.whole {
            let objects = (0..columns.rows).map(|row| Value::object(columns.object(row)));
            *whole = Build::Values(objects.collect());
        }
        // no name is there twice: each column is taken once
        for (slot, name) in table.slots.iter_mut().zip(&self.plan.names) {
            let spelled = columns.names.iter().rfind(|n| self.same(n, name)).cloned();
            let found = columns.take_column(spelled.as_ref().unwrap_or(name));
            let found = found.filter(|c| c.len() == columns.rows);
            *slot = Build::Column(found.unwrap_or_else(|| Column::missing(columns.rows)));
        }
        table
    }

    fn pick_columns(&self, table: &mut Table, objects: &[Arc<Object>]) {
        for (slot, name) in self.plan.names.iter().enumerate() {
            let values = objects.iter().map(|o| self.member(o, name).cloned().unwrap_or_default());
            table.slots[slot] = Build::Values(values.collect());
        }
        if let Some(whole) = &mut table.whole {
            *whole = Build::Values(objects.iter().map(|o| Value::Object(o.clone())).collect());
        }
    }

    /// Validation, event time and metadata; then the fields' columns.
    fn finish(
        &self,
        mut table: Table,
        metas: Metas<'_>,
        shared: Option<&Arc<Object>>,
        arrival: impl Fn(u32) -> i64,
        messages: usize,
    ) -> Batch {
        self.validate(&mut table);
        let stamps = self.stamps(&mut table, arrival);
        let row_msgs = std::mem::take(&mut table.row_msgs);
        let rows = row_msgs.len();
        let whole = self.declared_rows(&table, rows);
        let (mut slots, cells, errors) = table.finish();
        let whole = whole.or(cells);
        let metas = MetaOf { metas, shared, row_msgs: &row_msgs };
        let sources = &self.plan.sources;
        let cols = sources.iter().enumerate().map(|(at, source)| match source {
            Source::Slot(slot) => match slots.get_mut(*slot) {
                // a field is there once as a rule: then its column is taken, not copied
                Some(column) if sources[at + 1..].contains(source) => column.clone(),
                Some(column) => std::mem::replace(column, Column::missing(0)),
                None => Column::missing(rows),
            },
            Source::Whole => whole.clone().unwrap_or_else(|| Column::missing(rows)),
            Source::Meta(key) => metas.column(key),
            Source::MetaWhole => metas.whole(),
            Source::Nothing => Column::missing(rows),
        });
        Batch { rows, cols: cols.collect(), stamps, errors, messages, ack: None }
    }

    fn validate(&self, table: &mut Table) {
        let Some(schema) = self.options.schema.as_ref().filter(|_| self.options.strict) else {
            return;
        };
        let strict = Strict {
            format: self.pattern.as_ref(),
            zone: &self.options.zone,
            defaults: &self.options.defaults,
        };
        let mut bad = Vec::new();
        for (slot, name) in self.plan.names.iter().enumerate() {
            if let Some((_, ty)) = schema.iter().find(|(n, _)| n == name) {
                bad.extend(strict.column(table, slot, name, ty));
            }
        }
        if !bad.is_empty() {
            table.reject(bad, false);
        }
    }

    fn stamps(&self, table: &mut Table, arrival: impl Fn(u32) -> i64) -> Stamps {
        if let (Some(slot), Some(timestamp)) = (self.plan.stamp, &self.options.timestamp) {
            let (mut stamps, bad) = stamp::stamps(
                table,
                slot,
                &timestamp.column,
                self.pattern.as_ref(),
                &self.options.zone,
            );
            if !bad.is_empty() {
                let gone: Vec<usize> = bad.iter().map(|(row, _)| *row).collect();
                table.reject(bad, false);
                let mut row = 0;
                stamps.retain(|_| {
                    row += 1;
                    gone.binary_search(&(row - 1)).is_err()
                });
            }
            return Stamps::Each(stamps);
        }
        let mut all = table.row_msgs.iter().map(|msg| arrival(*msg));
        let first = all.next().unwrap_or_else(|| arrival(0));
        if all.all(|ts| ts == first) {
            return Stamps::Same(first);
        }
        Stamps::Each(table.row_msgs.iter().map(|msg| arrival(*msg)).collect())
    }

    /// Whole rows of a declared stream: its columns, no others.
    fn declared_rows(&self, table: &Table, rows: usize) -> Option<Column> {
        if !self.plan.whole || table.whole.is_some() {
            return None;
        }
        let schema = self.options.schema.as_deref().unwrap_or(&[]);
        let declared: Vec<(usize, &Str)> = self
            .plan
            .names
            .iter()
            .enumerate()
            .filter(|(_, name)| schema.iter().any(|(n, _)| n == *name))
            .collect();
        let objects = (0..rows).map(|row| {
            let mut object = Object::new();
            for (slot, name) in &declared {
                let value = table.value(*slot, row);
                if !value.is_missing() {
                    object.insert((*name).clone(), value);
                }
            }
            Value::object(object)
        });
        Some(Column::values(objects.collect()))
    }
}

/// A message's payload; empty when the message does not fit the batch.
pub fn payload<'a>(bytes: &'a [u8], msg: &Msg) -> &'a [u8] {
    let from = msg.payload.0 as usize;
    bytes.get(from..from + msg.payload.1 as usize).unwrap_or(&[])
}
