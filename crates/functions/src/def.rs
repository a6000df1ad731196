//! What a function says of itself.

use rekuiper_value::{Result, Value};

use crate::Cx;

/// See the crate's doc.
pub struct FunctionDef {
    /// The word users type, in lower case.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// Category of the reference manual: `string`, `math`, `aggregate`, …
    pub family: &'static str,
    pub kind: Kind,
    pub args: &'static [Arg],
    /// The last argument may be repeated.
    pub variadic: bool,
    /// Further check at creation, over what the arguments look like: wrong literal values, parity.
    pub check: Option<Check>,
    pub nulls: NullRule,
    /// Same arguments, same result: may be computed once when all arguments are literals.
    pub pure: bool,
    /// Hands its arguments on (coalesce, array_create): is given `Wide` as it is, and must take
    /// `Missing` for null. All others see neither.
    pub hands_on: bool,
    /// What it returns, in words of the manual: `text`, `int`, `float`, `any`, …
    pub returns: &'static str,
    pub doc: &'static str,
    /// An expression without columns and the JSON it gives: documentation and test. ("", "") where
    /// no constant expression can show it.
    pub example: (&'static str, &'static str),
}

/// Says what is wrong with the arguments of a call, if anything.
pub type Check = fn(&[ArgKind]) -> std::result::Result<(), String>;

/// How a function is run.
#[derive(Clone, Copy)]
pub enum Kind {
    /// Of the arguments of one row.
    Scalar(fn(&[Value], &Cx<'_>) -> Result<Value>),
    /// Code that does not come with this crate: a script, an external service, a plugin.
    External { function: &'static dyn ExternalFn, aggregate: bool },
    /// Over the rows of a group. `star`: takes `*`, then the argument is the whole row.
    Aggregate { new: fn() -> Box<dyn Accumulator>, star: bool },
    /// Keeps state per rule and partition over the rows in their order.
    Analytic(fn() -> Box<dyn Analytic>),
    /// An analytic function that gives an object whose members become columns (changed_cols).
    MultiColumn(fn() -> Box<dyn Analytic>),
    /// Gives rows: unnest, extract.
    MultiRow,
    /// Numbers the rows of an emission: row_number.
    Window,
    /// Resolved while planning and never called: meta, mqtt, dedup_trigger.
    Planned,
}

/// One argument: its name in the manual and which literals are refused when a rule is made.
#[derive(Clone, Copy)]
pub struct Arg {
    pub name: &'static str,
    pub refuse: Refuse,
    pub optional: bool,
}

impl Arg {
    pub const fn any(name: &'static str) -> Self {
        Arg { name, refuse: Refuse::NONE, optional: false }
    }

    pub const fn new(name: &'static str, refuse: Refuse) -> Self {
        Arg { name, refuse, optional: false }
    }

    pub const fn opt(self) -> Self {
        Arg { optional: true, ..self }
    }
}

/// Kinds of argument expressions that can be told while planning, as bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Refuse(pub u16);

impl Refuse {
    pub const NONE: Refuse = Refuse(0);
    pub const INT: Refuse = Refuse(1);
    pub const FLOAT: Refuse = Refuse(2);
    pub const STRING: Refuse = Refuse(4);
    pub const BOOLEAN: Refuse = Refuse(8);
    pub const UNIT: Refuse = Refuse(16);
    pub const COMPARISON: Refuse = Refuse(32);
    pub const COLUMN: Refuse = Refuse(64);
    pub const CALL: Refuse = Refuse(128);
    /// A number is wanted: text, boolean, time unit and comparison are refused.
    pub const NOT_NUMBER: Refuse = Refuse(4 | 8 | 16 | 32);
    /// A whole number is wanted.
    pub const NOT_INT: Refuse = Refuse(2 | 4 | 8 | 16 | 32);
    /// Text is wanted.
    pub const NOT_TEXT: Refuse = Refuse(1 | 2 | 8 | 16 | 32);
    /// A point in time is wanted (only a time unit passes as a literal, as in eKuiper).
    pub const NOT_TIME: Refuse = Refuse(1 | 2 | 4 | 8 | 32);
    /// A whole-number literal is wanted.
    pub const NOT_INT_LITERAL: Refuse = Refuse(2 | 4 | 8 | 16 | 32 | 64 | 128);
    /// A text literal is wanted.
    pub const NOT_TEXT_LITERAL: Refuse = Refuse(1 | 2 | 8 | 16 | 32 | 64 | 128);

    pub const fn or(self, other: Refuse) -> Refuse {
        Refuse(self.0 | other.0)
    }

    pub const fn has(self, other: Refuse) -> bool {
        self.0 & other.0 != 0
    }
}

/// What an argument expression looks like while planning.
#[derive(Clone, Debug)]
pub enum ArgKind {
    Literal(Value),
    Unit(&'static str),
    Comparison,
    Column,
    Call,
    Star,
    Other,
}

/// What happens where an argument is null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NullRule {
    /// Any argument null or missing, `[]` or `{}`: the result is null, the code is not called.
    EmptyToNull,
    /// Any argument null or missing: the result is null; empty arrays and objects are passed.
    NullToNull,
    /// The code sees nulls.
    Pass,
}

/// A function that is made while the process runs.
pub trait ExternalFn: Send + Sync {
    /// The result for the arguments of one row; of an aggregate, for one array an argument with the
    /// values of all rows. Neither holds `Missing` or `Wide` on top. `cx` is of the row, aggregates
    /// have none.
    fn call(&self, args: &[Value], cx: Option<&Cx<'_>>) -> Result<Value>;
}

/// State of an aggregate over one group. The same code serves incremental and buffered windows.
pub trait Accumulator: Send {
    /// One row's arguments; nulls are passed (as `Null`).
    fn add(&mut self, args: &[Value]) -> Result<()>;
    /// The result so far; may be asked more than once.
    fn finish(&self) -> Result<Value>;
    /// The state as a value, and back: for checkpoints.
    fn save(&self) -> Value;
    fn load(&mut self, state: &Value);
}

/// State of an analytic function in one partition.
pub trait Analytic: Send {
    /// One row's arguments; the function's value for this row.
    fn push(&mut self, args: &[Value]) -> Result<Value>;
    /// The value for a row that OVER(WHEN …) leaves out: state unchanged.
    fn skip(&mut self, args: &[Value]) -> Result<Value>;
    fn save(&self) -> Value;
    fn load(&mut self, state: &Value);
}

impl FunctionDef {
    /// A start for scalar definitions: fill in with `..FunctionDef::scalar(eval)`.
    pub const fn scalar(eval: fn(&[Value], &Cx<'_>) -> Result<Value>) -> Self {
        FunctionDef {
            name: "",
            aliases: &[],
            family: "",
            kind: Kind::Scalar(eval),
            args: &[],
            variadic: false,
            check: None,
            nulls: NullRule::EmptyToNull,
            pure: true,
            hands_on: false,
            returns: "any",
            doc: "",
            example: ("", ""),
        }
    }

    /// The same for other kinds; those see nulls.
    pub const fn of(kind: Kind) -> Self {
        FunctionDef {
            name: "",
            aliases: &[],
            family: "",
            kind,
            args: &[],
            variadic: false,
            check: None,
            nulls: NullRule::Pass,
            pure: false,
            hands_on: false,
            returns: "any",
            doc: "",
            example: ("", ""),
        }
    }

    /// Whether it is over the rows of a group.
    pub fn is_aggregate(&self) -> bool {
        matches!(self.kind, Kind::Aggregate { .. } | Kind::External { aggregate: true, .. })
    }

    /// Fresh state of an aggregate.
    pub fn accumulator(&self) -> Option<Box<dyn Accumulator>> {
        match self.kind {
            Kind::Aggregate { new, .. } => Some(new()),
            Kind::External { function, aggregate: true } => {
                Some(Box::new(crate::external::Gathered::new(function)))
            }
            _ => None,
        }
    }

    /// Fewest and most arguments.
    pub fn arity(&self) -> (usize, Option<usize>) {
        let least = self.args.iter().filter(|a| !a.optional).count();
        (least, (!self.variadic).then_some(self.args.len()))
    }

    /// Calls a scalar function under its null rule; `args` may hold `Missing` and `Wide`, which
    /// the code never sees. An error for functions of other kinds.
    pub fn call(&self, args: &[Value], cx: &Cx<'_>) -> Result<Value> {
        let eval = |args: &[Value], cx: &Cx<'_>| match self.kind {
            Kind::Scalar(eval) => eval(args, cx),
            Kind::External { function, aggregate: false } => function.call(args, Some(cx)),
            _ => {
                let text = format!("{} is no scalar function", self.name);
                Err(rekuiper_value::Error::new(text))
            }
        };
        let stops = |v: &Value| match self.nulls {
            NullRule::Pass => false,
            NullRule::NullToNull => v.is_null(),
            NullRule::EmptyToNull => match v {
                Value::Array(a) => a.is_empty(),
                Value::Object(o) => o.is_empty(),
                other => other.is_null(),
            },
        };
        if args.iter().any(stops) {
            return Ok(Value::Null);
        }
        if !self.hands_on && args.iter().any(|v| matches!(v, Value::Missing | Value::Wide(_))) {
            let seen: smallvec::SmallVec<[Value; 4]> =
                args.iter().map(|v| v.clone().normalized()).collect();
            return eval(&seen, cx);
        }
        eval(args, cx)
    }
}
