//! Go text/template over values, with the functions that eKuiper rules use in `dataTemplate` and in
//! templated properties (topics, paths, headers).
//!
//! Knows nothing of sinks, rules, IO and the clock: what a template may ask of the world comes in
//! with [`Env`].

mod exec;
mod functions;
mod gofmt;
mod gotime;
mod lex;
mod literal;
mod node;
mod parse;

use std::collections::HashMap;

use jiff::tz::TimeZone;
use rekuiper_value::{Result, Value};

pub use functions::names as function_names;

/// A template that cannot be read: the user's fault, to be told before the rule runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError(pub String);

impl std::fmt::Display for TemplateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TemplateError {}

/// Looks something up by name.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What a template may ask of the world.
#[derive(Clone, Default)]
pub struct Env<'a> {
    /// Unix milliseconds for `now`; without it `now` is an error.
    pub now_ms: Option<i64>,
    /// The zone that dates are printed in; none is UTC.
    pub zone: Option<TimeZone>,
    /// Global properties for `prop`.
    pub props: Option<Lookup<'a>>,
    /// Environment variables for `env` and `expandenv`.
    pub env: Option<Lookup<'a>>,
}

/// A parsed template, ready to be rendered any number of times.
#[derive(Debug)]
pub struct Template {
    root: Vec<node::Node>,
    defined: HashMap<String, Vec<node::Node>>,
}

/// Whether a property is a template at all.
pub fn is_template(text: &str) -> bool {
    text.contains("{{")
}

impl Template {
    pub fn parse(text: &str) -> std::result::Result<Template, TemplateError> {
        let (root, defined) = parse::parse(text)?;
        Ok(Template { root, defined })
    }

    /// Appends the rendering of `data`. On an error `out` is as it was.
    pub fn render(&self, data: &Value, out: &mut Vec<u8>) -> Result<()> {
        self.render_with(data, &Env::default(), out)
    }

    /// The same with a clock, properties and the like.
    pub fn render_with(&self, data: &Value, env: &Env<'_>, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let done = exec::run(&self.root, &self.defined, data, env, out);
        if done.is_err() {
            out.truncate(start);
        }
        done
    }
}
