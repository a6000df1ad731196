//! `Encoder`: rows into the bytes that a sink sends.

use std::borrow::Borrow;

use rekuiper_value::{Error, Object, Result, Str, Value, json};

use crate::format::{binary, delimited, urlencoded};
use crate::options::Format;

/// How rows are written. `Default` is JSON.
#[derive(Clone, Debug, Default)]
pub struct EncodeOptions {
    /// Any case; empty is json.
    pub format: Str,
    /// Of delimited rows; empty is a comma.
    pub delimiter: Str,
    /// Columns of delimited rows; empty: the sorted names of the first row.
    pub fields: Vec<Str>,
    /// The message type of protobuf.
    #[cfg(feature = "protobuf")]
    pub message: Option<crate::proto::MessageType>,
}

/// Writes the rows of one sink.
#[derive(Debug)]
pub struct Encoder {
    options: EncodeOptions,
    format: Format,
    columns: Vec<Str>,
}

impl Encoder {
    pub fn new(options: EncodeOptions) -> Result<Self> {
        let format = Format::by_name(&options.format)?;
        #[cfg(feature = "protobuf")]
        if format == Format::Protobuf && options.message.is_none() {
            return Err(Error::new("format protobuf needs schemaId \"schema.Message\""));
        }
        let columns = options.fields.clone();
        Ok(Encoder { options, format, columns })
    }

    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether a template's text is the payload as it stands.
    pub fn is_text(&self) -> bool {
        matches!(self.format, Format::Json | Format::Delimited | Format::Urlencoded)
    }

    fn delimiter(&self) -> &str {
        if self.options.delimiter.is_empty() { "," } else { &self.options.delimiter }
    }

    /// The header line of delimited rows, once the columns are known.
    pub fn header(&self) -> Option<String> {
        let known = self.format == Format::Delimited && !self.columns.is_empty();
        known.then(|| self.columns.join(self.delimiter()))
    }

    /// Appends one row.
    pub fn encode(&mut self, row: &Object, out: &mut Vec<u8>) -> Result<()> {
        match self.format {
            Format::Json => json::write_object(out, row),
            Format::Binary => binary::encode(out, row),
            Format::Delimited => {
                if self.columns.is_empty() {
                    self.columns = row.keys().cloned().collect();
                }
                delimited::encode(out, row, &self.columns, self.delimiter());
                Ok(())
            }
            Format::Urlencoded => {
                urlencoded::encode(out, row);
                Ok(())
            }
            Format::Protobuf => self.message(row, out),
        }
    }

    /// Appends a list of rows: an array in JSON, a line a row in delimited. The other formats have
    /// no lists.
    pub fn encode_list<R: Borrow<Object>>(&mut self, rows: &[R], out: &mut Vec<u8>) -> Result<()> {
        match self.format {
            Format::Json => {
                out.push(b'[');
                for (at, row) in rows.iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    json::write_object(out, row.borrow())?;
                }
                out.push(b']');
                Ok(())
            }
            Format::Delimited => {
                for (at, row) in rows.iter().enumerate() {
                    if at > 0 {
                        out.push(b'\n');
                    }
                    self.encode(row.borrow(), out)?;
                }
                Ok(())
            }
            Format::Binary if rows.len() == 1 => self.encode(rows[0].borrow(), out),
            _ => Err(Error::new(format!(
                "format {} cannot write a list of rows: set sendSingle to true",
                self.options.format
            ))),
        }
    }

    /// Appends an object or an array of objects (what a template or dataField gave).
    pub fn encode_value(&mut self, value: &Value, out: &mut Vec<u8>) -> Result<()> {
        match value {
            Value::Object(row) => self.encode(row, out),
            Value::Array(items) => {
                let rows: Option<Vec<&Object>> =
                    items.iter().map(|item| item.as_object().map(|o| &**o)).collect();
                match rows {
                    Some(rows) => self.encode_list(&rows, out),
                    None if self.format == Format::Json => json::write_value(out, value),
                    None => Err(Error::new("a list of rows must hold objects only")),
                }
            }
            value if self.format == Format::Json => json::write_value(out, value),
            other => Err(Error::new(format!("cannot write a {} as a row", other.kind_name()))),
        }
    }

    #[cfg(feature = "protobuf")]
    fn message(&self, row: &Object, out: &mut Vec<u8>) -> Result<()> {
        match &self.options.message {
            Some(message) => message.encode(row, out),
            None => Err(Error::new("format protobuf needs schemaId \"schema.Message\"")),
        }
    }

    #[cfg(not(feature = "protobuf"))]
    fn message(&self, _: &Object, _: &mut Vec<u8>) -> Result<()> {
        Err(Error::new("this build has no protobuf"))
    }
}
