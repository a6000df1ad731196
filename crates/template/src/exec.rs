//! Runs a parsed template. Steps, output and depth are bounded.

use std::collections::HashMap;
use std::sync::Arc;

use rekuiper_value::{Error, Result, Str, Value};

use crate::functions::{Args, Function};
use crate::node::{Command, Node, Operand, Pipe};
use crate::{Env, gofmt, gotime};

/// Most nodes that one rendering runs through.
const STEPS_MAX: usize = 1_000_000;
/// Longest output, and longest text that a function may make.
pub const OUTPUT_MAX: usize = 64 << 20;
/// Deepest calls of templates.
const CALLS_MAX: usize = 100;

struct Run<'a> {
    defined: &'a HashMap<String, Vec<Node>>,
    env: &'a Env<'a>,
    out: &'a mut Vec<u8>,
    start: usize,
    vars: Vec<(Str, Value)>,
    /// Variables below belong to the caller.
    base: usize,
    steps: usize,
    calls: usize,
}

/// How a list of nodes was left.
#[derive(PartialEq)]
enum Flow {
    On,
    Break,
    Continue,
}

pub fn run(
    root: &[Node],
    defined: &HashMap<String, Vec<Node>>,
    data: &Value,
    env: &Env<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let start = out.len();
    let vars = vec![(Str::from("$"), data.clone())];
    let mut run = Run { defined, env, out, start, vars, base: 0, steps: 0, calls: 0 };
    run.nodes(root, data).map(|_| ())
}

impl Run<'_> {
    fn nodes(&mut self, nodes: &[Node], dot: &Value) -> Result<Flow> {
        for node in nodes {
            self.step()?;
            if self.out.len() - self.start > OUTPUT_MAX {
                return Err(Error::new("template: sink: the output is longer than 64 MiB"));
            }
            match node {
                Node::Text(text) => self.out.extend_from_slice(text),
                Node::Action(pipe) => {
                    let value = self.pipe(pipe, dot)?;
                    if pipe.vars.is_empty() {
                        gofmt::print(self.out, &value);
                    }
                }
                Node::If { test, then, otherwise } | Node::With { test, then, otherwise } => {
                    let scope = self.vars.len();
                    let value = self.pipe(test, dot)?;
                    let with = matches!(node, Node::With { .. });
                    let flow = match truth(&value) {
                        true => self.nodes(then, if with { &value } else { dot })?,
                        false => self.nodes(otherwise, dot)?,
                    };
                    self.vars.truncate(scope);
                    if flow != Flow::On {
                        return Ok(flow);
                    }
                }
                Node::Range { over, body, otherwise } => {
                    let flow = self.range(over, body, otherwise, dot)?;
                    if flow != Flow::On {
                        return Ok(flow);
                    }
                }
                Node::Template { name, data, line } => {
                    self.call(name, data.as_ref(), dot, *line)?;
                }
                Node::Break => return Ok(Flow::Break),
                Node::Continue => return Ok(Flow::Continue),
            }
        }
        Ok(Flow::On)
    }

    fn step(&mut self) -> Result<()> {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return Err(Error::new("template: sink: more than a million steps: endless loop?"));
        }
        Ok(())
    }

    fn call(&mut self, name: &str, data: Option<&Pipe>, dot: &Value, line: usize) -> Result<()> {
        let value = match data {
            Some(pipe) => self.pipe(pipe, dot)?,
            None => Value::Missing,
        };
        let Some(nodes) = self.defined.get(name) else {
            return Err(Error::new(format!(
                "template: sink:{line}: template {name:?} not defined"
            )));
        };
        if self.calls >= CALLS_MAX {
            return Err(Error::new(format!(
                "template: sink:{line}: templates call each other deeper than {CALLS_MAX} levels"
            )));
        }
        self.calls += 1;
        let (base, scope) = (self.base, self.vars.len());
        self.base = scope;
        self.vars.push((Str::from("$"), value.clone()));
        let done = self.nodes(nodes, &value);
        self.vars.truncate(scope);
        self.base = base;
        self.calls -= 1;
        done.map(|_| ())
    }

    fn range(
        &mut self,
        over: &Pipe,
        body: &[Node],
        otherwise: &[Node],
        dot: &Value,
    ) -> Result<Flow> {
        let scope = self.vars.len();
        // the variables are set for each element, not for the pipeline
        let value = self.commands(over, dot)?;
        let mut ran = false;
        let mut left = false;
        let mut each = |run: &mut Self, index: Value, item: &Value| -> Result<bool> {
            ran = true;
            run.step()?;
            run.set_range_vars(over, index, item);
            let flow = run.nodes(body, item);
            run.vars.truncate(scope);
            match flow? {
                Flow::Break => {
                    left = true;
                    Ok(false)
                }
                _ => Ok(true),
            }
        };
        match &value {
            Value::Missing | Value::Null => {}
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    if !each(self, Value::Int(at as i64), item)? {
                        break;
                    }
                }
            }
            Value::Object(members) => {
                for (key, item) in members.iter().filter(|(_, v)| !v.is_missing()) {
                    if !each(self, Value::Str(key.clone()), item)? {
                        break;
                    }
                }
            }
            Value::Bytes(bytes) => {
                for (at, byte) in bytes.iter().enumerate() {
                    if !each(self, Value::Int(at as i64), &Value::Int(i64::from(*byte)))? {
                        break;
                    }
                }
            }
            Value::Int(n) => {
                for at in 0..*n {
                    if !each(self, Value::Int(at), &Value::Int(at))? {
                        break;
                    }
                }
            }
            other => {
                let shown = gofmt::text(other);
                return Err(fail(over, format!("range can't iterate over {shown}")));
            }
        }
        if !ran && !left {
            let flow = self.nodes(otherwise, dot);
            self.vars.truncate(scope);
            return flow;
        }
        Ok(Flow::On)
    }

    fn set_range_vars(&mut self, over: &Pipe, index: Value, item: &Value) {
        let values = match over.vars.len() {
            1 => vec![item.clone()],
            _ => vec![index, item.clone()],
        };
        for (name, value) in over.vars.iter().zip(values) {
            self.set(name, value, over.assign);
        }
    }

    fn set(&mut self, name: &Str, value: Value, assign: bool) {
        let own = &mut self.vars[self.base..];
        match own.iter_mut().rev().find(|(n, _)| assign && n == name) {
            Some((_, old)) => *old = value,
            None => self.vars.push((name.clone(), value)),
        }
    }

    fn pipe(&mut self, pipe: &Pipe, dot: &Value) -> Result<Value> {
        let value = self.commands(pipe, dot)?;
        for name in &pipe.vars {
            self.set(name, value.clone(), pipe.assign);
        }
        Ok(value)
    }

    fn commands(&mut self, pipe: &Pipe, dot: &Value) -> Result<Value> {
        let mut last = None;
        for command in &pipe.commands {
            let value = self.command(command, dot, last.take());
            last = Some(value.map_err(|error| match error.0.starts_with("template: ") {
                true => error,
                false => fail(pipe, error),
            })?);
        }
        Ok(last.unwrap_or_default())
    }

    fn command(&mut self, command: &Command, dot: &Value, piped: Option<Value>) -> Result<Value> {
        let Some((first, rest)) = command.0.split_first() else { return Ok(Value::Missing) };
        let Operand::Function(function) = first else {
            // as in Go: a parenthesised pipeline ignores nothing, it just cannot be called
            if !rest.is_empty() || piped.is_some() {
                return self.method(first, rest, piped, dot);
            }
            return self.operand(first, dot);
        };
        self.function(function, rest, dot, piped)
    }

    fn function(
        &mut self,
        function: &'static Function,
        operands: &[Operand],
        dot: &Value,
        piped: Option<Value>,
    ) -> Result<Value> {
        let count = operands.len() + usize::from(piped.is_some());
        function.check(count)?;
        let mut args = Vec::with_capacity(count);
        for operand in operands {
            let value = self.operand(operand, dot)?;
            // and / or look no further than they must
            let decided = match function.name {
                "and" => !truth(&value),
                "or" => truth(&value),
                _ => false,
            };
            if decided {
                return Ok(value);
            }
            args.push(value);
        }
        args.extend(piped);
        let value = (function.run)(&mut Args { name: function.name, args, env: self.env })?;
        // these change a dict in place: here the variable that holds it
        if matches!(function.name, "set" | "unset" | "merge" | "mergeOverwrite")
            && let Some(Operand::Var(name, fields)) = operands.first()
            && fields.is_empty()
        {
            self.set(name, value.clone(), true);
        }
        Ok(value)
    }

    fn operand(&mut self, operand: &Operand, dot: &Value) -> Result<Value> {
        match operand {
            Operand::Dot => Ok(dot.clone()),
            Operand::Nil => Ok(Value::Null),
            Operand::Literal(value) => Ok(value.clone()),
            Operand::Field(fields) => chain(dot.clone(), fields),
            Operand::Var(name, fields) => {
                let own = &self.vars[self.base..];
                let found = own.iter().rev().find(|(n, _)| n == name);
                chain(found.map(|(_, v)| v.clone()).unwrap_or_default(), fields)
            }
            Operand::Function(function) => self.function(function, &[], dot, None),
            Operand::Pipe(pipe, fields) => {
                let value = self.pipe(pipe, dot)?;
                chain(value, fields)
            }
        }
    }

    /// A method with arguments; only times have some.
    fn method(
        &mut self,
        operand: &Operand,
        operands: &[Operand],
        piped: Option<Value>,
        dot: &Value,
    ) -> Result<Value> {
        let (value, fields) = match operand {
            Operand::Field(fields) => (dot.clone(), fields),
            Operand::Var(name, fields) => {
                (self.operand(&Operand::Var(name.clone(), Vec::new()), dot)?, fields)
            }
            Operand::Pipe(pipe, fields) => (self.pipe(pipe, dot)?, fields),
            _ => return Err(Error::new("can't give argument to non-function")),
        };
        let Some((last, before)) = fields.split_last() else {
            return Err(Error::new("can't give argument to non-function"));
        };
        let mut args = Vec::new();
        for operand in operands {
            args.push(self.operand(operand, dot)?);
        }
        args.extend(piped);
        match (chain(value, before)?, args.as_slice()) {
            (Value::Time(t), [Value::Str(layout)]) if last == "Format" => {
                Ok(Value::str(gotime::format(&t, layout)))
            }
            _ => Err(Error::new(format!("{last} has arguments but cannot be invoked as function"))),
        }
    }
}

fn fail(pipe: &Pipe, error: impl std::fmt::Display) -> Error {
    let (line, text) = (pipe.line, &pipe.text);
    Error::new(format!("template: sink:{line}: executing \"sink\" at <{text}>: {error}"))
}

/// Members of members. A missing member's members are missing too; those of null are an error.
fn chain(mut value: Value, fields: &[Str]) -> Result<Value> {
    for field in fields {
        value = match &value {
            Value::Object(members) => members.get(field).cloned().unwrap_or_default(),
            Value::Missing => Value::Missing,
            Value::Null => {
                return Err(Error::new(format!("nil pointer evaluating interface {{}}.{field}")));
            }
            Value::Time(t) => match gotime::method(t, field) {
                Some(value) => value,
                None => {
                    return Err(Error::new(format!(
                        "can't evaluate field {field} in type time.Time"
                    )));
                }
            },
            other => {
                return Err(Error::new(format!(
                    "can't evaluate field {field} in type {}",
                    other.kind_name()
                )));
            }
        };
    }
    Ok(value)
}

/// Whether `if` takes a value for true: not zero and not empty.
pub fn truth(value: &Value) -> bool {
    match value {
        Value::Missing | Value::Null => false,
        Value::Bool(b) => *b,
        Value::Int(i) | Value::Wide(i) => *i != 0,
        Value::Float(f) => *f != 0.0,
        Value::Str(s) => !s.is_empty(),
        Value::Bytes(b) => !b.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Time(_) => true,
    }
}

/// An array's items, cheaply owned.
pub fn owned(items: &Arc<Vec<Value>>) -> Vec<Value> {
    (**items).clone()
}
