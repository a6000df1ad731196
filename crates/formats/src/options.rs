//! What a stream says about the form of its messages.

use jiff::tz::TimeZone;
use rekuiper_value::{ColType, Str, Value};

/// How messages are read. `Default` is a schemaless JSON stream.
#[derive(Clone, Debug)]
pub struct DecodeOptions {
    /// FORMAT, any case; empty is json.
    pub format: Str,
    /// Declared columns; `None` for a schemaless stream.
    pub schema: Option<Vec<(Str, ColType)>>,
    /// STRICT_VALIDATION.
    pub strict: bool,
    /// DEFAULT of declared columns; only STRICT_VALIDATION looks at them.
    pub defaults: Vec<(Str, Value)>,
    /// TIMESTAMP and TIMESTAMP_FORMAT.
    pub timestamp: Option<Timestamp>,
    /// The zone of datetimes that name none.
    pub zone: TimeZone,
    /// DELIMITER of delimited streams; empty is a comma.
    pub delimiter: Str,
    /// Column names of delimited streams; empty: col0, col1, …
    pub fields: Vec<Str>,
    /// Whole numbers are integers (`useInt64ForWholeNumber`).
    pub ints: bool,
    /// Names of members match in any case (`basic.ignoreCase`); letters of ASCII only.
    pub any_case: bool,
    /// The message type of protobuf streams.
    #[cfg(feature = "protobuf")]
    pub message: Option<crate::proto::MessageType>,
}

/// The column that carries the event time.
#[derive(Clone, Debug)]
pub struct Timestamp {
    pub column: Str,
    pub format: Option<Str>,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        DecodeOptions {
            format: Str::from("json"),
            schema: None,
            strict: false,
            defaults: Vec::new(),
            timestamp: None,
            zone: TimeZone::UTC,
            delimiter: Str::from(","),
            fields: Vec::new(),
            ints: false,
            any_case: false,
            #[cfg(feature = "protobuf")]
            message: None,
        }
    }
}

/// The formats by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Json,
    Binary,
    Delimited,
    Urlencoded,
    Protobuf,
}

/// Every format with the word users write.
pub const FORMATS: &[(&str, Format)] = &[
    ("json", Format::Json),
    ("binary", Format::Binary),
    ("delimited", Format::Delimited),
    ("urlencoded", Format::Urlencoded),
    #[cfg(feature = "protobuf")]
    ("protobuf", Format::Protobuf),
];

impl Format {
    /// By name in any case; the empty name is json.
    pub fn by_name(name: &str) -> rekuiper_value::Result<Format> {
        if name.is_empty() {
            return Ok(Format::Json);
        }
        match FORMATS.iter().find(|(word, _)| word.eq_ignore_ascii_case(name)) {
            Some((_, format)) => Ok(*format),
            None => {
                let words: Vec<&str> = FORMATS.iter().map(|(word, _)| *word).collect();
                Err(rekuiper_value::Error::new(format!(
                    "format type {name} not supported: use one of {}",
                    words.join(", ")
                )))
            }
        }
    }
}
