//! What the acc_* functions share: one value, counted on row by row.
//!
//! With three arguments (value, begin, reset) counting starts with the row where begin holds, the
//! row where reset holds is still counted, and from the next row on the value is 0 again until
//! begin holds anew.

use rekuiper_value::{Error, Result, Value};

use crate::arguments::{at, whole_of};
use crate::{Analytic, ArgKind};

/// What a running value does with the next one.
pub(super) trait Running: Send + 'static {
    const NAME: &'static str;
    /// The arguments so far are summed up in `total`, how many there were in `count`.
    fn next(state: &mut State, value: &Value) -> Result<()>;
    fn value(state: &State) -> Value;
}

#[derive(Clone, Copy, Default)]
pub(super) struct State {
    pub(super) total: f64,
    pub(super) count: i64,
    begun: bool,
    /// The last row met the reset condition.
    over: bool,
}

pub(super) struct Accumulate<R>(State, std::marker::PhantomData<R>);

pub(super) fn new<R: Running>() -> Box<dyn Analytic> {
    Box::new(Accumulate::<R>(State::default(), std::marker::PhantomData))
}

/// One argument or three.
pub(super) fn check(args: &[ArgKind]) -> std::result::Result<(), String> {
    match args.len() {
        2 => Err("takes one argument, or three: value, begin condition, reset condition".into()),
        _ => Ok(()),
    }
}

/// The number; null and other kinds lose the row.
pub(super) fn number<R: Running>(value: &Value) -> Result<f64> {
    value.as_f64().ok_or_else(|| {
        Error::new(format!(
            "{}: needs a number, but this row gives {}",
            R::NAME,
            value.kind_name()
        ))
    })
}

impl<R: Running> Analytic for Accumulate<R> {
    fn push(&mut self, args: &[Value]) -> Result<Value> {
        let state = &mut self.0;
        if args.len() < 3 {
            R::next(state, at(args, 0))?;
            return Ok(R::value(state));
        }
        let holds = |index: usize| at(args, index).as_bool().unwrap_or(false);
        if state.over {
            *state = State::default();
        }
        state.begun |= holds(1);
        if !state.begun {
            return Ok(Value::Float(0.0));
        }
        state.over = holds(2);
        R::next(state, at(args, 0))?;
        Ok(R::value(state))
    }

    fn skip(&mut self, _args: &[Value]) -> Result<Value> {
        Ok(if self.0.count == 0 {
            Value::Null
        } else {
            R::value(&self.0)
        })
    }

    fn save(&self) -> Value {
        let State {
            total,
            count,
            begun,
            over,
        } = self.0;
        let parts = [total.into(), count.into(), begun.into(), over.into()];
        Value::array(parts.to_vec())
    }

    fn load(&mut self, state: &Value) {
        let parts = state.as_array().map(|a| a.to_vec()).unwrap_or_default();
        self.0 = State {
            total: at(&parts, 0).as_f64().unwrap_or(0.0),
            count: whole_of(at(&parts, 1)).unwrap_or(0),
            begun: at(&parts, 2).as_bool().unwrap_or(false),
            over: at(&parts, 3).as_bool().unwrap_or(false),
        };
    }
}
