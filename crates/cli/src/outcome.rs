//! What a command gives back, and which exit code that is.
//!
//! eKuiper's tool exits with 0 on nearly every error. Ours exits with 1 when the server refused.
//! Complaints about the command line itself and a few replies that tools have long read from the
//! text ([`Failure::Unmet`]) keep the 0 they always had, unless `--strict` or `--json` asks for
//! the truth in every case.

use serde_json::{Value, json};

pub type Answered = Result<Answer, Failure>;

/// A success.
pub enum Answer {
    /// Lines for people; with `--json` they come as `{"message": ...}`.
    Text(String),
    /// A document; printed with indents.
    Data(Value),
    /// A document that people get in words.
    Both(String, Value),
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Answer::Text(text)
    }
}

impl Answer {
    pub fn text(&self) -> String {
        match self {
            Answer::Text(text) | Answer::Both(text, _) => text.clone(),
            Answer::Data(data) => pretty(data),
        }
    }

    pub fn json(&self) -> String {
        match self {
            Answer::Text(text) if text.is_empty() => String::new(),
            Answer::Text(text) => json!({"message": text.trim_end()}).to_string(),
            Answer::Data(data) | Answer::Both(_, data) => data.to_string(),
        }
    }
}

/// Why a command did not do what was asked.
#[derive(Debug)]
pub enum Failure {
    /// Exit 0 by habit, 1 with `--strict` or `--json`.
    Unmet(String),
    /// Exit 1.
    Refused(String),
}

impl Failure {
    pub fn text(&self) -> &str {
        let (Failure::Unmet(text) | Failure::Refused(text)) = self;
        text
    }

    pub fn json(&self) -> String {
        json!({"error": self.text()}).to_string()
    }

    pub fn code(&self, strict: bool) -> u8 {
        u8::from(strict || matches!(self, Failure::Refused(_)))
    }

    /// The same failure with eKuiper's prefix before it.
    pub fn after(self, prefix: &str) -> Self {
        match self {
            Failure::Unmet(text) => Failure::Unmet(format!("{prefix}{text}")),
            Failure::Refused(text) => Failure::Refused(format!("{prefix}{text}")),
        }
    }

    pub fn unmet(self) -> Self {
        match self {
            Failure::Refused(text) => Failure::Unmet(text),
            unmet => unmet,
        }
    }
}

/// Indented by two blanks, as eKuiper prints documents.
pub fn pretty(data: &Value) -> String {
    serde_json::to_string_pretty(data).unwrap_or_else(|_| data.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn habits_keep_their_zero_and_strict_does_not() {
        assert_eq!(Failure::Unmet("x".into()).code(false), 0);
        assert_eq!(Failure::Unmet("x".into()).code(true), 1);
        assert_eq!(Failure::Refused("x".into()).code(false), 1);
    }

    #[test]
    fn a_sentence_is_a_message_for_programs() {
        assert_eq!(Answer::Text("done\n".into()).json(), r#"{"message":"done"}"#);
        assert_eq!(Answer::Both("none".into(), json!([])).json(), "[]");
    }
}
