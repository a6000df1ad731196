//! Conversions between kinds, as cast() and typed columns do them.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use jiff::tz::TimeZone;

use crate::{ColType, Error, Object, Result, Value, number, text, time};

/// What cast() can make of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastType {
    Bigint,
    Float,
    String,
    Boolean,
    Datetime,
    Bytea,
}

impl CastType {
    /// By the word users write, in lower case only.
    pub fn by_name(name: &str) -> Option<CastType> {
        Some(match name {
            "bigint" => CastType::Bigint,
            "float" => CastType::Float,
            "string" => CastType::String,
            "boolean" => CastType::Boolean,
            "datetime" => CastType::Datetime,
            "bytea" => CastType::Bytea,
            _ => return None,
        })
    }

    fn go_name(self) -> &'static str {
        match self {
            CastType::Bigint => "int64",
            CastType::Float => "float64",
            CastType::String => "string",
            CastType::Boolean => "bool",
            CastType::Datetime => "datetime",
            CastType::Bytea => "bytes",
        }
    }
}

/// Converts a value; null stays null, what cannot be converted is an error. `zone` holds for
/// datetimes that name none.
pub fn cast(value: &Value, to: CastType, zone: &TimeZone) -> Result<Value> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    let made = match to {
        CastType::Bigint => to_i64(value).map(Value::Int),
        CastType::Float => to_f64(value).map(Value::Float),
        CastType::String => Some(to_text(value)),
        CastType::Boolean => to_bool(value).map(Value::Bool),
        CastType::Datetime => return time::to_time(value, zone).map(|t| Value::Time(t.into())),
        CastType::Bytea => to_bytes(value),
    };
    made.ok_or_else(|| cannot(value, to.go_name()))
}

fn cannot(value: &Value, to: &str) -> Error {
    let shown = text::render(value);
    let kind = if value.is_null() {
        "<nil>"
    } else {
        value.kind_name()
    };
    Error::new(format!("cannot convert {kind}({shown}) to {to}"))
}

fn to_i64(value: &Value) -> Option<i64> {
    match value {
        Value::Int(i) | Value::Wide(i) => Some(*i),
        Value::Float(f) => whole_part(*f),
        Value::Bool(b) => Some(i64::from(*b)),
        Value::Str(s) => parse_int(s),
        _ => None,
    }
}

/// The double without its fraction, if 64 bits can hold it.
pub fn whole_part(f: f64) -> Option<i64> {
    (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0)
        .contains(&f)
        .then_some(f as i64)
}

/// A whole number in text: sign, digits, or digits behind 0x, 0o or 0b. Leading zeros mean
/// nothing (eKuiper takes them for octal).
pub fn parse_int(text: &str) -> Option<i64> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => ("-", &text[1..]),
        b'+' => ("", &text[1..]),
        _ => ("", text),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        _ => (10, digits),
    };
    if !digits.as_bytes().first()?.is_ascii_alphanumeric() {
        return None;
    }
    if sign.is_empty() {
        return i64::from_str_radix(digits, radix).ok();
    }
    i64::from_str_radix(&format!("-{digits}"), radix).ok()
}

fn to_f64(value: &Value) -> Option<f64> {
    match value {
        Value::Int(i) | Value::Wide(i) => Some(*i as f64),
        Value::Float(f) => Some(*f),
        Value::Bool(b) => Some(f64::from(u8::from(*b))),
        Value::Str(s) => parse_float(s),
        _ => None,
    }
}

/// A double in text, also in C's hexadecimal form (`0x1p4`); what is no finite number is refused.
pub fn parse_float(text: &str) -> Option<f64> {
    let parsed = match text.parse::<f64>() {
        Ok(f) => f,
        Err(_) => hex_float(text)?,
    };
    parsed.is_finite().then_some(parsed)
}

fn hex_float(text: &str) -> Option<f64> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let rest = rest
        .strip_prefix("0x")
        .or_else(|| rest.strip_prefix("0X"))?;
    let (digits, exponent) = rest.split_once(['p', 'P'])?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    // More than 14 digits would have to be rounded; nobody writes them.
    if whole.len() + fraction.len() == 0 || whole.len() + fraction.len() > 14 {
        return None;
    }
    let mut mantissa = 0.0;
    for c in whole.chars().chain(fraction.chars()) {
        mantissa = mantissa * 16.0 + f64::from(c.to_digit(16)?);
    }
    let exponent: i32 = exponent.parse().ok()?;
    let shift = exponent.checked_sub(4 * i32::try_from(fraction.len()).ok()?)?;
    Some(sign * mantissa * 2f64.powi(shift.clamp(-2000, 2000)))
}

fn to_text(value: &Value) -> Value {
    match value {
        Value::Float(f) => {
            let mut out = Vec::new();
            number::write_plain_f64(&mut out, *f);
            Value::str(String::from_utf8_lossy(&out).as_ref())
        }
        Value::Wide(i) => to_text(&Value::Float(*i as f64)),
        Value::Bytes(bytes) => Value::str(String::from_utf8_lossy(bytes).as_ref()),
        other => Value::Str(text::render(other)),
    }
}

fn to_bool(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(b) => Some(*b),
        Value::Int(i) | Value::Wide(i) => Some(*i != 0),
        Value::Float(f) => Some(*f != 0.0),
        Value::Str(s) => parse_bool(s),
        _ => None,
    }
}

/// The words for true and false: `1 t T true TRUE True` and `0 f F false FALSE False`.
pub fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// Bytes of a text: what it says in base64, else the text itself.
fn to_bytes(value: &Value) -> Option<Value> {
    match value {
        Value::Bytes(_) => Some(value.clone()),
        Value::Str(s) => Some(Value::bytes(
            base64_decode(s).unwrap_or_else(|| s.as_bytes().to_vec()),
        )),
        _ => None,
    }
}

/// Standard base64 with its padding; line breaks inside do not count.
pub fn base64_decode(text: &str) -> Option<Vec<u8>> {
    const ENGINE: GeneralPurpose = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
    );
    if text.bytes().any(|b| b == b'\n' || b == b'\r') {
        let joined: String = text.chars().filter(|c| *c != '\n' && *c != '\r').collect();
        return ENGINE.decode(joined).ok();
    }
    ENGINE.decode(text).ok()
}

/// Brings a value to the declared type of its column, as STRICT_VALIDATION streams do: numbers
/// become each other, nothing else changes its kind, and null is refused except for arrays and
/// structs. `format` is the stream's TIMESTAMP_FORMAT.
pub fn convert_strict(
    value: &Value,
    to: &ColType,
    format: Option<&time::Pattern>,
    zone: &TimeZone,
) -> Result<Value> {
    let made = match (to, value) {
        (ColType::Any, v) => Some(v.clone()),
        (ColType::Array(_) | ColType::Struct(_), v) if v.is_null() => Some(Value::Null),
        (ColType::Bigint, Value::Int(i) | Value::Wide(i)) => Some(Value::Int(*i)),
        (ColType::Bigint, Value::Float(f)) => whole_part(*f).map(Value::Int),
        (ColType::Float, Value::Int(_) | Value::Wide(_) | Value::Float(_)) => {
            value.as_f64().map(Value::Float)
        }
        (ColType::Boolean, Value::Bool(_)) | (ColType::String, Value::Str(_)) => {
            Some(value.clone())
        }
        (ColType::Bytea, v) => to_bytes(v),
        (ColType::Datetime, Value::Str(s)) => {
            let t = match format {
                Some(pattern) => pattern.parse(s, zone)?,
                None => time::read_time(s, zone)?,
            };
            Some(Value::Time(t.into()))
        }
        (ColType::Datetime, v) if v.is_number() || matches!(v, Value::Time(_)) => {
            Some(Value::Time(time::to_time(v, zone)?.into()))
        }
        (ColType::Array(of), Value::Array(items)) => {
            let made: Result<Vec<Value>> = items
                .iter()
                .map(|v| match v {
                    Value::Missing | Value::Null => Ok(Value::Null),
                    v => convert_strict(v, of, format, zone),
                })
                .collect();
            Some(Value::array(made?))
        }
        (ColType::Struct(members), Value::Object(object)) => {
            let mut made = Object::new();
            for (name, ty) in members {
                if let Some(v) = object.get(name) {
                    made.insert(name.clone(), convert_strict(v, ty, format, zone)?);
                }
            }
            Some(Value::object(made))
        }
        _ => None,
    };
    made.ok_or_else(|| cannot(value, strict_name(to)))
}

fn strict_name(to: &ColType) -> &'static str {
    match to {
        ColType::Any => "any",
        ColType::Bigint => "int64",
        ColType::Float => "float64",
        ColType::String => "string",
        ColType::Datetime => "datetime",
        ColType::Boolean => "bool",
        ColType::Bytea => "bytes",
        ColType::Array(_) => "slice",
        ColType::Struct(_) => "map",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(value: Value, to: &str) -> String {
        match cast(&value, CastType::by_name(to).unwrap(), &TimeZone::UTC) {
            Ok(v) => crate::json::to_string(&v).unwrap(),
            Err(_) => "error".to_owned(),
        }
    }

    #[test]
    fn numbers_and_text() {
        let cases: [(Value, &str, &str); 20] = [
            ((-5.9).into(), "bigint", "-5"),
            ("0x1F".into(), "bigint", "31"),
            ("-0b11".into(), "bigint", "-3"),
            ("-007".into(), "bigint", "-7"),
            ("08".into(), "bigint", "8"),
            ("".into(), "bigint", "error"),
            ("+-5".into(), "bigint", "error"),
            ("0x".into(), "bigint", "error"),
            (1e19.into(), "bigint", "error"),
            ("1e3".into(), "float", "1000"),
            ("0x1p4".into(), "float", "16"),
            ("0x1F".into(), "float", "error"),
            ("1e400".into(), "float", "error"),
            ("nan".into(), "float", "error"),
            (1e21.into(), "string", "\"1000000000000000000000\""),
            (1e-7.into(), "string", "\"0.0000001\""),
            ("T".into(), "boolean", "true"),
            ("yes".into(), "boolean", "error"),
            (1500.0.into(), "datetime", "\"1970-01-01T00:00:01.5Z\""),
            (true.into(), "datetime", "error"),
        ];
        for (value, to, want) in cases {
            assert_eq!(say(value.clone(), to), want, "{value:?} to {to}");
        }
    }

    #[test]
    fn bytes() {
        assert_eq!(say("aGk=".into(), "bytea"), "\"aGk=\"");
        assert_eq!(say("plain!".into(), "bytea"), "\"cGxhaW4h\"");
        assert_eq!(base64_decode("YWJj\n"), Some(b"abc".to_vec()));
        assert_eq!(base64_decode("YWJ"), None);
        assert_eq!(say(5.0.into(), "bytea"), "error");
    }

    #[test]
    fn strict_columns() {
        let utc = TimeZone::UTC;
        let to =
            |v: Value, ty: ColType| convert_strict(&v, &ty, None, &utc).map_err(|e| e.to_string());
        assert_eq!(to(7.9.into(), ColType::Bigint), Ok(Value::Int(7)));
        assert_eq!(
            to("1".into(), ColType::Bigint),
            Err("cannot convert string(1) to int64".to_owned())
        );
        assert_eq!(
            to(Value::Null, ColType::Bigint),
            Err("cannot convert <nil>(<nil>) to int64".to_owned())
        );
        let list = ColType::Array(Box::new(ColType::Float));
        assert_eq!(to(Value::Null, list.clone()), Ok(Value::Null));
        let items = Value::array(vec![Value::Int(1), Value::Null]);
        assert_eq!(
            to(items, list),
            Ok(Value::array(vec![Value::Float(1.0), Value::Null]))
        );
        let pattern = time::Pattern::new("dd.MM.yyyy").unwrap();
        let t = convert_strict(
            &"02.01.2024".into(),
            &ColType::Datetime,
            Some(&pattern),
            &utc,
        );
        assert_eq!(
            crate::json::to_string(&t.unwrap()).unwrap(),
            "\"2024-01-02T00:00:00Z\""
        );
    }
}
