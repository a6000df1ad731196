//! A command: the words that name it, what it takes, and what it does.

use crate::args::{Args, Flag};
use crate::client::Client;
use crate::outcome::{Answered, Failure};

pub struct Command {
    pub verb: &'static str,
    /// Empty where the verb stands alone (`query`).
    pub noun: &'static str,
    /// The words after it, as help shows them.
    pub takes: &'static str,
    pub about: &'static str,
    pub flags: &'static [Flag],
    pub run: fn(&Call) -> Answered,
}

/// One use of a command.
pub struct Call<'a> {
    pub command: &'static Command,
    pub client: &'a Client,
    pub args: Args,
    pub json: bool,
}

impl Call<'_> {
    /// The one word that the command takes, or a line that says what is missing.
    pub fn only(&self, what: &str) -> Result<&str, Failure> {
        match self.args.words.as_slice() {
            [one] => Ok(one),
            _ => Err(Failure::Unmet(format!("Expect {what}."))),
        }
    }

    /// Two words.
    pub fn pair(&self, what: &str) -> Result<(&str, &str), Failure> {
        match self.args.words.as_slice() {
            [a, b] => Ok((a, b)),
            _ => Err(Failure::Unmet(format!("Expect {what}."))),
        }
    }
}
