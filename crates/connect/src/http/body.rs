//! Bodies of requests.

use bytes::Bytes;

use crate::ConnectError;

/// `bodyType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyType {
    None,
    Text,
    Json,
    Html,
    Xml,
    Javascript,
    Form,
    Binary,
    Formdata,
}

const WORDS: &[(&str, BodyType)] = &[
    ("none", BodyType::None),
    ("text", BodyType::Text),
    ("json", BodyType::Json),
    ("html", BodyType::Html),
    ("xml", BodyType::Xml),
    ("javascript", BodyType::Javascript),
    ("form", BodyType::Form),
    ("binary", BodyType::Binary),
    ("formdata", BodyType::Formdata),
];

impl BodyType {
    pub fn by_name(name: &str) -> Result<BodyType, ConnectError> {
        let found = WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(name));
        found.map(|(_, kind)| *kind).ok_or_else(|| {
            let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
            ConnectError::config(format!(
                "property bodyType must be one of {}, found {name}",
                words.join(", ")
            ))
        })
    }

    /// The Content-Type that goes with it.
    pub fn content_type(self) -> Option<&'static str> {
        match self {
            BodyType::None | BodyType::Binary | BodyType::Formdata => None,
            BodyType::Text => Some("text/plain"),
            BodyType::Json => Some("application/json"),
            BodyType::Html => Some("text/html"),
            BodyType::Xml => Some("application/xml"),
            BodyType::Javascript => Some("application/javascript"),
            BodyType::Form => Some("application/x-www-form-urlencoded;param=value"),
        }
    }
}

/// A body of several parts and its Content-Type: plain fields, and the payload as a file.
pub fn multipart(
    fields: &[(String, String)],
    file_field: &str,
    file_name: &str,
    payload: &[u8],
) -> (String, Bytes) {
    let mut boundary = String::from("rekuiper-part");
    let mut salt = 0u32;
    let holds = |text: &[u8], word: &str| memchr::memmem::find(text, word.as_bytes()).is_some();
    while holds(payload, &boundary) || fields.iter().any(|(_, v)| v.contains(&boundary)) {
        salt += 1;
        boundary = format!("rekuiper-part-{salt}");
    }
    let quoted = |text: &str| text.replace(['"', '\r', '\n'], "_");
    let mut body = Vec::with_capacity(payload.len() + 256);
    for (name, value) in fields {
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"\r\n\r\n{value}\r\n",
            quoted(name)
        );
        body.extend_from_slice(head.as_bytes());
    }
    if !file_field.is_empty() {
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"; filename=\"{file_name}\"\
             \r\nContent-Type: application/octet-stream\r\n\r\n",
            quoted(file_field)
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(payload);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), body.into())
}
