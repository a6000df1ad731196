//! What is wrong with a payload, small enough to travel in a register.

use rekuiper_value::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum What {
    Value,
    Key,
    Colon,
    CommaOrBrace,
    CommaOrBracket,
    StringEnd,
    Control,
    Digit,
    LeadingZero,
    NumberRange,
    TooDeep,
    Tail,
    NotAnObject,
    TooLong,
}

const WHATS: [What; 14] = [
    What::Value,
    What::Key,
    What::Colon,
    What::CommaOrBrace,
    What::CommaOrBracket,
    What::StringEnd,
    What::Control,
    What::Digit,
    What::LeadingZero,
    What::NumberRange,
    What::TooDeep,
    What::Tail,
    What::NotAnObject,
    What::TooLong,
];

/// Kind in the lowest byte, position above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault(u64);

impl Fault {
    #[cold]
    pub fn new(what: What, at: usize) -> Self {
        Fault((at as u64) << 8 | what as u64)
    }

    pub fn what(self) -> What {
        WHATS.get((self.0 & 0xff) as usize).copied().unwrap_or(What::Value)
    }

    pub fn at(self) -> usize {
        (self.0 >> 8) as usize
    }

    /// The error as the rule's status shows it. `payload` is the message it was found in, `base`
    /// where that starts.
    pub fn error(self, payload: &[u8], base: usize) -> Error {
        let at = self.at().saturating_sub(base);
        if payload.iter().all(u8::is_ascii_whitespace) {
            return Error::new("cannot parse JSON: the payload is empty");
        }
        let expected = match self.what() {
            What::Value => "a value",
            What::Key => "a key in quotes",
            What::Colon => "':'",
            What::CommaOrBrace => "',' or '}'",
            What::CommaOrBracket => "',' or ']'",
            What::StringEnd => "the end of the string",
            What::Control => "no control character within a string",
            What::Digit => "a digit",
            What::LeadingZero => "a number without leading zero",
            What::Tail => "the end of the payload",
            What::NumberRange => {
                return Error::new(format!("cannot parse JSON: number out of range at byte {at}"));
            }
            What::TooDeep => {
                return Error::new(format!(
                    "cannot parse JSON: nested deeper than {} levels at byte {at}",
                    rekuiper_value::json::JSON_DEPTH_MAX
                ));
            }
            What::NotAnObject => {
                return Error::new(
                    "only map[string]interface{} and []map[string]interface{} is supported",
                );
            }
            What::TooLong => {
                return Error::new(format!("a field longer than 128 MiB at byte {at}"));
            }
        };
        let found = match payload.get(at) {
            Some(b) if b.is_ascii_graphic() => format!("'{}'", *b as char),
            Some(b) => format!("byte 0x{b:02x}"),
            None => "the end".into(),
        };
        Error::new(format!("cannot parse JSON: expected {expected} at byte {at}, found {found}"))
    }
}
