//! Events for machines: one JSON object a line.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::workload::Part;

pub enum Field<'a> {
    Int(u64),
    Float(f64),
    Text(&'a str),
    Parts(&'a [Part]),
}

/// Where events go; safe to share between threads, each event is one whole line.
pub struct Events(Mutex<Box<dyn Write + Send>>);

impl Events {
    pub fn to(out: Box<dyn Write + Send>) -> Events {
        Events(Mutex::new(out))
    }

    pub fn stdout() -> Events {
        Events::to(Box::new(std::io::stdout()))
    }

    /// A reader that went away is no reason to stop sending, so write errors are let go.
    pub fn emit(&self, event: &str, fields: &[(&str, Field)]) {
        let line = to_json(event, fields);
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
    }
}

pub fn to_json(event: &str, fields: &[(&str, Field)]) -> String {
    let mut line = format!("{{\"event\":{}", quoted(event));
    for (key, field) in fields {
        let _ = write!(line, ",{}:", quoted(key));
        let _ = match field {
            Field::Int(n) => write!(line, "{n}"),
            Field::Float(x) => write!(line, "{:.3}", if x.is_finite() { *x } else { 0.0 }),
            Field::Text(text) => write!(line, "{}", quoted(text)),
            Field::Parts(parts) => {
                let list: Vec<String> = parts
                    .iter()
                    .map(|p| {
                        let Part {
                            first,
                            stride,
                            count,
                        } = p;
                        format!("{{\"first\":{first},\"stride\":{stride},\"count\":{count}}}")
                    })
                    .collect();
                write!(line, "[{}]", list.join(","))
            }
        };
    }
    line.push_str("}\n");
    line
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

pub fn unix_ns() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_nanos() as u64)
}

pub fn unix_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_a_line_of_json() {
        let parts = [Part {
            first: 1,
            stride: 8,
            count: 3,
        }];
        let line = to_json(
            "done",
            &[
                ("n", Field::Int(3)),
                ("t", Field::Text("a\"b")),
                ("parts", Field::Parts(&parts)),
            ],
        );
        assert_eq!(
            line,
            "{\"event\":\"done\",\"n\":3,\"t\":\"a\\\"b\",\
             \"parts\":[{\"first\":1,\"stride\":8,\"count\":3}]}\n"
        );
    }
}
