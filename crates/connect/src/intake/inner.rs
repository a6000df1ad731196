//! `payloadFormat`: a field whose content is decoded a second time.

use rekuiper_formats::{DecodeOptions, Decoder};
use rekuiper_value::{Error, Object, Str, Value, json};

use crate::{ConnectError, Props};

/// A field whose content is decoded a second time, and how.
pub(super) struct Inner {
    field: Str,
    decoder: Decoder,
}

pub(super) fn inner(props: &Props) -> Result<Option<Inner>, ConnectError> {
    let format = props.str_or("payloadFormat", "")?;
    if format.is_empty() {
        return Ok(None);
    }
    let outer = props.str_or("format", "json")?;
    if !outer.eq_ignore_ascii_case("json") || props.get("payloadBatchField").is_some() {
        return Err(ConnectError::config(
            "payloadFormat works in this build on FORMAT json, without payloadBatchField",
        ));
    }
    if format.eq_ignore_ascii_case("protobuf") {
        return Err(ConnectError::config(
            "payloadFormat protobuf is not in this build: json, delimited and urlencoded are",
        ));
    }
    let options = DecodeOptions {
        format: format.into(),
        delimiter: props.str_or("payloadDelimiter", ",")?.into(),
        ..DecodeOptions::default()
    };
    let decoder = Decoder::new(options)
        .map_err(|e| ConnectError::config(format!("property payloadFormat: {e}")))?;
    Ok(Some(Inner { field: props.required("payloadField", "payloadFormat")?.into(), decoder }))
}

impl Inner {
    /// The field goes, what it holds comes in its place; of several rows in it each makes one.
    pub(super) fn open(&self, message: &[u8], out: &mut Vec<Vec<u8>>) -> Result<(), Error> {
        let Value::Object(row) = json::parse(message)? else {
            return Err(Error::new("payloadFormat works on objects, found another payload"));
        };
        let mut row = Object::clone(&row);
        let inside = match row.remove(self.field.as_str()) {
            Some(Value::Str(text)) => self.decoder.objects(text.as_bytes())?,
            Some(value @ (Value::Object(_) | Value::Array(_))) => {
                self.decoder.objects(json::to_string(&value)?.as_bytes())?
            }
            _ => {
                let field = &self.field;
                return Err(Error::new(format!("a row has no text in {field} (payloadField)")));
            }
        };
        for members in inside {
            let mut whole = row.clone();
            whole.extend(members);
            out.push(json::to_string(&Value::object(whole))?.into_bytes());
        }
        Ok(())
    }
}
