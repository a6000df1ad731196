//! The functions of templates, a family a file, each entered in its family's list.

mod compare;
mod dates;
mod dicts;
mod ekuiper;
mod encode;
mod kinds;
mod lists;
mod logic;
mod numbers;
mod regexes;
mod strings;
mod text;
mod words;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use rekuiper_value::{Error, Object, Result, Value};

use crate::{Env, exec, gofmt};

/// One function.
#[derive(Debug)]
pub struct Function {
    pub name: &'static str,
    pub least: usize,
    /// `usize::MAX`: any number.
    pub most: usize,
    pub run: fn(&mut Args<'_, '_>) -> Result<Value>,
}

pub const MANY: usize = usize::MAX;

/// Short form for the lists.
pub const fn f(
    name: &'static str,
    least: usize,
    most: usize,
    run: fn(&mut Args<'_, '_>) -> Result<Value>,
) -> Function {
    Function { name, least, most, run }
}

const FAMILIES: &[&[Function]] = &[
    logic::FUNCTIONS,
    compare::FUNCTIONS,
    text::FUNCTIONS,
    ekuiper::FUNCTIONS,
    strings::FUNCTIONS,
    words::FUNCTIONS,
    numbers::FUNCTIONS,
    kinds::FUNCTIONS,
    lists::FUNCTIONS,
    dicts::FUNCTIONS,
    encode::FUNCTIONS,
    dates::FUNCTIONS,
    regexes::FUNCTIONS,
];

fn table() -> &'static HashMap<&'static str, &'static Function> {
    static TABLE: OnceLock<HashMap<&'static str, &'static Function>> = OnceLock::new();
    TABLE.get_or_init(|| {
        FAMILIES.iter().flat_map(|family| family.iter()).map(|f| (f.name, f)).collect()
    })
}

pub fn find(name: &str) -> Option<&'static Function> {
    table().get(name).copied()
}

/// The names of all functions, sorted.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = table().keys().copied().collect();
    names.sort_unstable();
    names
}

impl Function {
    pub fn check(&self, count: usize) -> Result<()> {
        if (self.least..=self.most).contains(&count) {
            return Ok(());
        }
        let want = match (self.least, self.most) {
            (least, MANY) => format!("at least {least}"),
            (least, most) if least == most => least.to_string(),
            (least, most) => format!("{least} to {most}"),
        };
        Err(Error::new(format!("wrong number of args for {}: want {want} got {count}", self.name)))
    }
}

/// The arguments of a call.
pub struct Args<'a, 'e> {
    pub name: &'static str,
    pub args: Vec<Value>,
    pub env: &'a Env<'e>,
}

impl Args<'_, '_> {
    pub fn len(&self) -> usize {
        self.args.len()
    }

    /// The argument itself; beyond the last one missing.
    pub fn any(&self, at: usize) -> Value {
        self.args.get(at).cloned().unwrap_or_default()
    }

    pub fn error(&self, text: impl std::fmt::Display) -> Error {
        Error::new(format!("error calling {}: {text}", self.name))
    }

    fn wrong(&self, at: usize, expected: &str) -> Error {
        let value = self.any(at);
        match value.is_null() {
            true => Error::new(format!("invalid value; expected {expected}")),
            false => Error::new(format!(
                "wrong type for value; expected {expected}; got {}",
                value.kind_name()
            )),
        }
    }

    /// An argument that must be text.
    pub fn str(&self, at: usize) -> Result<&str> {
        match self.args.get(at) {
            Some(Value::Str(s)) => Ok(s),
            _ => Err(self.wrong(at, "string")),
        }
    }

    /// An argument that must be an integer (a double is none).
    pub fn int(&self, at: usize) -> Result<i64> {
        match self.args.get(at) {
            Some(Value::Int(i)) => Ok(*i),
            _ => Err(self.wrong(at, "int")),
        }
    }

    pub fn bool(&self, at: usize) -> Result<bool> {
        match self.args.get(at) {
            Some(Value::Bool(b)) => Ok(*b),
            _ => Err(self.wrong(at, "bool")),
        }
    }

    pub fn list(&self, at: usize) -> Result<Arc<Vec<Value>>> {
        match self.args.get(at) {
            Some(Value::Array(items)) => Ok(items.clone()),
            _ => Err(self.wrong(at, "list")),
        }
    }

    pub fn dict(&self, at: usize) -> Result<Arc<Object>> {
        match self.args.get(at) {
            Some(Value::Object(members)) => Ok(members.clone()),
            _ => Err(self.wrong(at, "map[string]interface {}")),
        }
    }

    /// An argument as text whatever it is (sprig's toString).
    pub fn text(&self, at: usize) -> String {
        to_text(&self.any(at))
    }

    /// An argument as a whole number whatever it is (sprig's toInt64).
    pub fn whole(&self, at: usize) -> i64 {
        numbers::to_int(&self.any(at))
    }

    pub fn float(&self, at: usize) -> f64 {
        numbers::to_float(&self.any(at))
    }

    /// Text as a result, unless it is too long.
    pub fn limit(&self, len: usize) -> Result<()> {
        if len > exec::OUTPUT_MAX {
            return Err(self.error("the result would be longer than 64 MiB"));
        }
        Ok(())
    }
}

/// Text stays, bytes are taken for text, anything else is printed.
pub fn to_text(value: &Value) -> String {
    match value {
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => gofmt::text(other),
    }
}

pub fn text_value(text: impl Into<rekuiper_value::Str>) -> Result<Value> {
    Ok(Value::str(text))
}
