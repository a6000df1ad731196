//! Functions over the rows of a group.
//!
//! Nulls are left aside unless said. An accumulator that never saw a row (an empty window) gives
//! null: so does count. A wrong kind among the values makes every later call fail, and the
//! emission is lost. The `inc_*` names are eKuiper's running forms: here the same code.
//!
//! What `add` gets: the evaluated arguments of one row. For `*` that is one argument, the whole row
//! as an object (for count any value that is not null); deduplicate gets the whole row first.

use rekuiper_value::{Error, Object, Result, Str, Value};

use crate::Accumulator;
use crate::arguments::at;
use crate::registry::functions;

mod numbers;
mod sample;

/// `running!(inc_avg of avg);` is the whole file of a running form: another name for its namesake.
macro_rules! running {
    ($name:ident of $namesake:ident) => {
        pub const DEF: crate::FunctionDef = crate::FunctionDef {
            name: stringify!($name),
            doc: concat!(
                "The running form of ",
                stringify!($namesake),
                " in eKuiper's incremental windows; the same as ",
                stringify!($namesake),
                "."
            ),
            ..super::$namesake::DEF
        };

        #[cfg(test)]
        mod tests {
            #[test]
            fn gives_what_its_namesake_gives() {
                crate::aggregate::same_answers(&super::DEF, &super::super::$namesake::DEF);
            }
        }
    };
}
use running;

functions! {
    avg, collect, count, deduplicate, inc_avg, inc_collect, inc_count, inc_last_value, inc_max,
    inc_merge_agg, inc_min, inc_sum, last_value, max, median, merge_agg, min, percentile_cont,
    percentile_disc, stddev, stddevs, sum, var, vars,
}

/// What an aggregate does with the rows; [`Checked`] makes an accumulator of it.
trait Fold: Default + Send + 'static {
    fn add(&mut self, args: &[Value]) -> Result<()>;
    fn finish(&self) -> Result<Value>;
    fn save(&self) -> Value;
    fn load(&mut self, state: &Value);
}

/// Remembers the first error: whoever missed it on `add` gets it from `finish`.
#[derive(Default)]
struct Checked<F> {
    fold: F,
    error: Option<Error>,
}

impl<F: Fold> Accumulator for Checked<F> {
    fn add(&mut self, args: &[Value]) -> Result<()> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        self.fold
            .add(args)
            .inspect_err(|e| self.error = Some(e.clone()))
    }

    fn finish(&self) -> Result<Value> {
        match &self.error {
            Some(error) => Err(error.clone()),
            None => self.fold.finish(),
        }
    }

    fn save(&self) -> Value {
        let mut state = Object::from([(Str::from("s"), self.fold.save())]);
        if let Some(error) = &self.error {
            state.insert("e".into(), Value::from(error.to_string()));
        }
        Value::object(state)
    }

    fn load(&mut self, state: &Value) {
        let Some(state) = state.as_object() else {
            return;
        };
        self.error = state.get("e").and_then(Value::as_str).map(Error::new);
        if let Some(kept) = state.get("s") {
            self.fold.load(kept);
        }
    }
}

fn new<F: Fold>() -> Box<dyn Accumulator> {
    Box::new(Checked::<F>::default())
}

/// "sum: needs numbers, but a row gives a string".
fn unfit(name: &str, needs: &str, got: &Value) -> Error {
    Error::new(format!(
        "{name}: needs {needs}, but a row gives {}",
        got.kind_name()
    ))
}

/// Items of a saved array.
fn saved_items(state: &Value) -> Vec<Value> {
    state.as_array().map(|a| a.to_vec()).unwrap_or_default()
}

/// The argument that says yes or no; anything but true is no.
fn flag(args: &[Value], index: usize) -> bool {
    at(args, index).as_bool().unwrap_or(false)
}

/// Checks that one aggregate answers as another does, on objects and on numbers.
#[cfg(test)]
fn same_answers(def: &crate::FunctionDef, namesake: &crate::FunctionDef) {
    let rows = r#"[[{"a":1},true],[null,true],[{"a":2},true]]"#;
    let numbers = "[[4,true],[1,true],[null,true]]";
    let wanted = |rows| {
        let crate::Kind::Aggregate { new, .. } = namesake.kind else {
            panic!("{} is no aggregate", namesake.name);
        };
        let mut state = new();
        for row in saved_items(&crate::testing::read(rows)) {
            let _ = state.add(&saved_items(&row));
        }
        let answer = state.finish();
        let text = answer.and_then(|v| rekuiper_value::json::to_string(&v));
        text.unwrap_or_else(|_| "error".into())
    };
    for rows in [rows, numbers] {
        crate::testing::aggregate(def, rows, &wanted(rows));
    }
}
