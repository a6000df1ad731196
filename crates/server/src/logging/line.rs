//! `time="2026-03-01 12:00:00" level=info msg="text" key=value file=name:line`

use std::fmt::{Debug, Write};

use tracing::field::{Field, Visit};
use tracing::{Event, Level};

use super::now::now;

#[derive(Default)]
struct Fields {
    message: String,
    others: String,
    rule: Option<String>,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "rule" {
            self.rule = Some(format!("{value:?}"));
        }
        if field.name() == "message" {
            let _ = write!(self.message, "{value:?}");
        } else {
            let _ = write!(
                self.others,
                " {}={}",
                field.name(),
                quote(&format!("{value:?}"))
            );
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "rule" {
            self.rule = Some(value.to_owned());
        }
        if field.name() == "message" {
            self.message.push_str(value);
        } else {
            let _ = write!(self.others, " {}={}", field.name(), quote(value));
        }
    }
}

/// In quotes unless it is plain; line ends never reach the log as such.
fn quote(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-._/@^+".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The line, and the rule it is about where it says so.
pub fn format(event: &Event<'_>, timestamp: bool) -> (String, Option<String>) {
    let mut fields = Fields::default();
    event.record(&mut fields);
    let metadata = event.metadata();
    let level = match *metadata.level() {
        Level::ERROR => "error",
        Level::WARN => "warning",
        Level::INFO => "info",
        Level::DEBUG | Level::TRACE => "debug",
    };
    let mut out = String::new();
    if timestamp {
        let _ = write!(out, "time=\"{}\" ", now("%Y-%m-%d %H:%M:%S"));
    }
    let _ = write!(
        out,
        "level={level} msg={}{}",
        quote(&fields.message),
        fields.others
    );
    if let (Some(file), Some(line)) = (metadata.file(), metadata.line()) {
        let name = file.rsplit('/').next().unwrap_or(file);
        let _ = write!(out, " file={name}:{line}");
    }
    out.push('\n');
    (out, fields.rule)
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn a_message_stays_one_line() {
        assert_eq!(quote("plain-1"), "plain-1");
        assert_eq!(
            quote("a b\nlevel=error \"x\""),
            r#""a b\nlevel=error \"x\"""#
        );
        assert_eq!(quote(""), "\"\"");
    }
}
