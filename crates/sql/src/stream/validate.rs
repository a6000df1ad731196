//! Checks over a whole definition, made when a stream or table is created. (What is wrong in one
//! place alone, such as an unknown option, the parser has refused.)

use crate::{FieldType, StreamDef, StreamKind};

impl StreamDef {
    /// The first thing that is wrong with the definition. `offers_lookup` tells whether a source
    /// type can serve as a lookup table; which types there are is not known here.
    pub fn validate(&self, offers_lookup: impl Fn(&str) -> bool) -> Result<(), String> {
        self.validate_binary()?;
        self.validate_lookup(offers_lookup)
    }

    fn validate_binary(&self) -> Result<(), String> {
        let format = self.options.format.as_deref().unwrap_or_default();
        if !format.eq_ignore_ascii_case("binary") {
            return Ok(());
        }
        if self.kind == StreamKind::Table {
            return Err("FORMAT binary is for streams only; give the table another format".into());
        }
        match self.fields.as_deref() {
            None => Ok(()),
            Some([one]) if one.typ == FieldType::Bytea => Ok(()),
            Some(_) => {
                Err("a stream of FORMAT binary has no field or one field of type BYTEA".into())
            }
        }
    }

    fn validate_lookup(&self, offers_lookup: impl Fn(&str) -> bool) -> Result<(), String> {
        let lookup = self.options.kind.as_deref() == Some("lookup");
        if self.kind != StreamKind::Table || !lookup {
            return Ok(());
        }
        let typ = self
            .options
            .type_
            .as_deref()
            .filter(|t| !t.is_empty())
            .unwrap_or("mqtt");
        if !offers_lookup(typ) {
            let what = format!("the source type {typ:?} cannot be a lookup table");
            return Err(format!(
                "{what}; use a TYPE that offers lookup, or KIND=\"scan\""
            ));
        }
        if typ == "memory" && self.options.key.as_deref().unwrap_or_default().is_empty() {
            return Err(
                "a lookup table of TYPE memory needs a KEY, the field it is kept by".into(),
            );
        }
        Ok(())
    }
}
