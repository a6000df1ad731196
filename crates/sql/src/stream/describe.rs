//! The text of DESCRIBE, and defaults and types as text.

use std::fmt::{self, Display, Formatter, Write};

use crate::{FieldDefault, FieldType, StreamDef, StreamOptions, deep};

impl StreamDef {
    /// The text of DESCRIBE.
    pub fn describe(&self) -> String {
        let mut out = format!("Fields\n{}\n", "-".repeat(80));
        for field in self.fields.as_deref().unwrap_or_default() {
            // Writing to a string does not fail.
            let _ = write!(out, "{}\t{}", field.name, field.typ);
            if let Some(default) = &field.default {
                let _ = write!(out, "\tDEFAULT\t{default}");
            }
            out.push('\n');
        }
        out.push('\n');
        for (name, value) in self.options.described() {
            let _ = writeln!(out, "{name}: {value}");
        }
        out
    }
}

impl StreamOptions {
    /// The options DESCRIBE tells, in its order; what is empty, false or 0 is left out.
    pub fn described(&self) -> Vec<(&'static str, String)> {
        let text = |v: &Option<String>| v.clone().filter(|s| !s.is_empty());
        let flag = |v: Option<bool>| v.filter(|b| *b).map(|b| b.to_string());
        let retain = self.retain_size.filter(|n| *n != 0).map(|n| n.to_string());
        [
            ("CONF_KEY", text(&self.conf_key)),
            ("DATASOURCE", text(&self.datasource)),
            ("FORMAT", text(&self.format)),
            ("SCHEMAID", text(&self.schema_id)),
            ("KEY", text(&self.key)),
            ("RETAIN_SIZE", retain),
            ("SHARED", flag(self.shared)),
            ("STRICT_VALIDATION", flag(self.strict_validation)),
            ("TIMESTAMP", text(&self.timestamp)),
            ("TIMESTAMP_FORMAT", text(&self.timestamp_format)),
            ("TYPE", text(&self.type_)),
            ("EXTRA", text(&self.extra)),
            ("VERSION", text(&self.version)),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }
}

/// `bigint`, `array(bigint)`, `struct(x bigint, y string)`
impl Display for FieldType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            FieldType::Array(t) => deep(|| write!(f, "array({t})")),
            FieldType::Struct(fields) => deep(|| {
                f.write_str("struct(")?;
                for (i, field) in fields.iter().enumerate() {
                    let gap = if i > 0 { ", " } else { "" };
                    write!(f, "{gap}{} {}", field.name, field.typ)?;
                }
                f.write_char(')')
            }),
            simple => f.write_str(simple.word()),
        }
    }
}

impl Display for FieldDefault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            FieldDefault::Bigint(n) => write!(f, "{n}"),
            FieldDefault::Float(n) => write!(f, "{n}"),
            FieldDefault::String(s) => f.write_str(s),
            FieldDefault::Boolean(b) => write!(f, "{b}"),
        }
    }
}
