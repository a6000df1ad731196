//! `Value`: one dynamically typed datum, cheap to clone (strings inline up to 15 bytes, else
//! counted; arrays and objects counted and never changed in place once shared).

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::ZonedDateTime;

/// Text of a value. Short strings live inline.
pub type Str = ecow::EcoString;

/// Members of an object, sorted by key bytes: eKuiper prints objects that way.
pub type Object = BTreeMap<Str, Value>;

/// A run-time evaluation error: text for people, shown in `last_exception`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(pub Box<str>);

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn new(text: impl Into<String>) -> Self {
        Error(text.into().into_boxed_str())
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// One datum. `Missing` (the row has no such member) and `Null` (it is there and null) differ only
/// when a row is written out; everything that computes treats both as null (`is_null`).
#[derive(Clone, Debug, Default)]
pub enum Value {
    #[default]
    Missing,
    Null,
    Bool(bool),
    /// A 64-bit integer of a BIGINT column, an integer literal, or a function that counts.
    Int(i64),
    /// Every number of a schemaless stream, and of FLOAT columns.
    Float(f64),
    /// A whole number of a schemaless stream that a double cannot hold exactly (beyond 2^53).
    /// It *is* a float for arithmetic and rendering, yet is projected, compared, grouped and
    /// joined exactly.
    Wide(i64),
    Str(Str),
    Bytes(Arc<[u8]>),
    Array(Arc<Vec<Value>>),
    Object(Arc<Object>),
    Time(Arc<ZonedDateTime>),
}

impl Value {
    pub fn str(text: impl Into<Str>) -> Self {
        Value::Str(text.into())
    }

    pub fn bytes(bytes: impl Into<Arc<[u8]>>) -> Self {
        Value::Bytes(bytes.into())
    }

    pub fn array(items: Vec<Value>) -> Self {
        Value::Array(Arc::new(items))
    }

    pub fn object(members: Object) -> Self {
        Value::Object(Arc::new(members))
    }

    /// Null or missing.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Missing | Value::Null)
    }

    pub fn is_missing(&self) -> bool {
        matches!(self, Value::Missing)
    }

    /// Int, Float or Wide.
    pub fn is_number(&self) -> bool {
        matches!(self, Value::Int(_) | Value::Float(_) | Value::Wide(_))
    }

    /// The number as a double; None for anything that is no number.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Int(i) | Value::Wide(i) => Some(*i as f64),
            Value::Float(f) => Some(*f),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(b) => Some(*b),
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(s) => Some(s),
            _ => None,
        }
    }

    pub fn as_array(&self) -> Option<&Arc<Vec<Value>>> {
        match self {
            Value::Array(a) => Some(a),
            _ => None,
        }
    }

    pub fn as_object(&self) -> Option<&Arc<Object>> {
        match self {
            Value::Object(o) => Some(o),
            _ => None,
        }
    }

    /// Missing becomes Null, a Wide becomes the double it stands for: what functions get to see.
    pub fn normalized(self) -> Self {
        match self {
            Value::Missing => Value::Null,
            Value::Wide(i) => Value::Float(i as f64),
            other => other,
        }
    }

    /// The word used for the kind in error texts (the names of Go's types, which users of eKuiper
    /// meet in its messages).
    pub fn kind_name(&self) -> &'static str {
        match self {
            Value::Missing | Value::Null => "nil",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int64",
            Value::Float(_) | Value::Wide(_) => "float64",
            Value::Str(_) => "string",
            Value::Bytes(_) => "[]uint8",
            Value::Array(_) => "[]interface {}",
            Value::Object(_) => "map[string]interface {}",
            Value::Time(_) => "time.Time",
        }
    }
}

/// Structural equality for tests and change detection: Null equals Missing, numbers compare by
/// value over all three kinds, NaN equals NaN.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        use Value::*;
        match (self, other) {
            (Missing | Null, Missing | Null) => true,
            (Bool(a), Bool(b)) => a == b,
            (Int(a) | Wide(a), Int(b) | Wide(b)) => a == b,
            (Float(a), Float(b)) => a == b || (a.is_nan() && b.is_nan()),
            (Int(a) | Wide(a), Float(b)) | (Float(b), Int(a) | Wide(a)) => {
                crate::number::cmp_int_float(*a, *b) == Some(std::cmp::Ordering::Equal)
            }
            (Str(a), Str(b)) => a == b,
            (Bytes(a), Bytes(b)) => a == b,
            (Array(a), Array(b)) => a == b,
            (Object(a), Object(b)) => a == b,
            (Time(a), Time(b)) => a.timestamp() == b.timestamp(),
            _ => false,
        }
    }
}

impl From<i64> for Value {
    fn from(v: i64) -> Self {
        Value::Int(v)
    }
}
impl From<f64> for Value {
    fn from(v: f64) -> Self {
        Value::Float(v)
    }
}
impl From<bool> for Value {
    fn from(v: bool) -> Self {
        Value::Bool(v)
    }
}
impl From<&str> for Value {
    fn from(v: &str) -> Self {
        Value::Str(v.into())
    }
}
impl From<String> for Value {
    fn from(v: String) -> Self {
        Value::Str(v.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stays_small() {
        assert!(size_of::<Value>() <= 24, "{}", size_of::<Value>());
    }

    #[test]
    fn numbers_compare_by_value_over_kinds() {
        assert_eq!(Value::Int(3), Value::Float(3.0));
        assert_ne!(Value::Wide(9007199254740993), Value::Float(9007199254740992.0));
        assert_eq!(Value::Null, Value::Missing);
    }
}
