//! The path language of the json_path functions: read once, kept, evaluated over values.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use rekuiper_value::{Result, Str, Value};

mod eval;
mod parse;

pub(super) use eval::find;

/// A path: steps from the document (`$`) or, within a condition, from the item (`@`).
#[derive(Debug, PartialEq)]
pub(super) struct Path {
    from_item: bool,
    steps: Vec<Step>,
}

#[derive(Debug, PartialEq)]
enum Step {
    /// `.k`, `["k"]`
    Member(Str),
    /// `[2]`
    Index(i64),
    /// `[0,2]`, `["a","b"]`
    Several(Vec<Step>),
    /// `[a:b:step]`
    Slice(Option<i64>, Option<i64>, i64),
    /// `.*`, `[*]`
    All,
    /// `..`: the items themselves and all within them, for the step that follows.
    Descend,
    /// `[? …]`
    Filter(Condition),
}

#[derive(Debug, PartialEq)]
enum Condition {
    Or(Box<Condition>, Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
    Compare(Operand, Comparison, Operand),
    /// A path alone: it finds something that is neither null nor false.
    Holds(Operand),
}

#[derive(Debug, PartialEq)]
enum Operand {
    Value(Value),
    Path(Path),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// Most paths that are kept; then the store starts anew.
const PATHS_MAX: usize = 512;

static PATHS: Mutex<Option<HashMap<Str, Arc<Path>>>> = Mutex::new(None);

/// The compiled form of a path, kept over calls.
pub(super) fn compiled(text: &Str) -> Result<Arc<Path>> {
    let mut guard = PATHS
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let known = guard.get_or_insert_with(HashMap::new);
    if let Some(found) = known.get(text) {
        return Ok(found.clone());
    }
    let made = Arc::new(parse::path(text)?);
    if known.len() >= PATHS_MAX {
        known.clear();
    }
    known.insert(text.clone(), made.clone());
    Ok(made)
}
