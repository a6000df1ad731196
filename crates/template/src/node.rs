//! The parsed template.

use rekuiper_value::{Str, Value};

use crate::functions::Function;

#[derive(Debug)]
pub enum Node {
    Text(Vec<u8>),
    Action(Pipe),
    If { test: Pipe, then: Vec<Node>, otherwise: Vec<Node> },
    With { test: Pipe, then: Vec<Node>, otherwise: Vec<Node> },
    Range { over: Pipe, body: Vec<Node>, otherwise: Vec<Node> },
    Template { name: String, data: Option<Pipe>, line: usize },
    Break,
    Continue,
}

/// `$x, $y := a b | c`.
#[derive(Debug)]
pub struct Pipe {
    pub vars: Vec<Str>,
    /// `=` instead of `:=`.
    pub assign: bool,
    pub commands: Vec<Command>,
    pub line: usize,
    /// The text, for error messages.
    pub text: String,
}

#[derive(Debug)]
pub struct Command(pub Vec<Operand>);

#[derive(Debug)]
pub enum Operand {
    Dot,
    Nil,
    Literal(Value),
    /// `.a.b`.
    Field(Vec<Str>),
    /// `$x.a`.
    Var(Str, Vec<Str>),
    Function(&'static Function),
    /// `(…)` and `(…).a`.
    Pipe(Box<Pipe>, Vec<Str>),
}
