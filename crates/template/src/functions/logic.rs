//! and, or, not, and what depends on emptiness: default, empty, coalesce, ternary, all, any, fail.

use rekuiper_value::{Result, Value};

use super::{Args, Function, MANY, f};
use crate::exec::truth;

pub const FUNCTIONS: &[Function] = &[
    f("and", 1, MANY, last),
    f("or", 1, MANY, last),
    f("not", 1, 1, |a| Ok(Value::Bool(!truth(&a.any(0))))),
    f("default", 1, MANY, |a| Ok(if truth(&a.any(1)) { a.any(1) } else { a.any(0) })),
    f("empty", 1, 1, |a| Ok(Value::Bool(!truth(&a.any(0))))),
    f("coalesce", 0, MANY, |a| {
        Ok(a.args.iter().find(|v| truth(v)).cloned().unwrap_or(Value::Null))
    }),
    f("ternary", 3, 3, |a| Ok(if a.bool(2)? { a.any(0) } else { a.any(1) })),
    f("all", 0, MANY, |a| Ok(Value::Bool(a.args.iter().all(truth)))),
    f("any", 0, MANY, |a| Ok(Value::Bool(a.args.iter().any(truth)))),
    f("fail", 1, 1, |a| Err(a.error(a.str(0)?))),
];

/// All but the last were found true by `and`, or false by `or`.
fn last(a: &mut Args<'_, '_>) -> Result<Value> {
    // an argument that came through a pipe is judged here, after the others
    Ok(a.args.pop().unwrap_or_default())
}
