//! Analytic functions: each keeps a state per partition over the rows in their order and gives
//! every row a column.
//!
//! Of several sources, a call sees the rows of those that it reads. A row whose arguments fail is
//! lost; in a set that loses the result. Holds one state per call and partition, for the life of
//! the rule: PARTITION BY a column of unbounded values grows without bound, as it does in eKuiper.

use hashbrown::HashMap;
use rekuiper_functions::{self as functions, FunctionDef, Kind};
use rekuiper_plan::physical::AnalyticPlan;
use rekuiper_value::{Column, Error, Result, Value};
use smallvec::SmallVec;

use crate::frames::{RowExpr, Times, put};
use crate::key::KeyBuf;
use crate::{Chunk, Next, Op, OpCx};

type State = Box<dyn functions::Analytic>;

struct Call {
    def: &'static FunctionDef,
    args: Box<[RowExpr]>,
    partition: Box<[RowExpr]>,
    when: Option<RowExpr>,
    col: u16,
    /// Sources whose rows it sees; empty: all.
    sources: Vec<usize>,
    states: HashMap<Box<[u8]>, State, ahash::RandomState>,
}

/// See the module's doc.
pub struct Analytic {
    calls: Vec<Call>,
    key: KeyBuf,
}

impl Analytic {
    /// `owner`: the source that a column comes from.
    pub fn new(plans: Vec<AnalyticPlan>, owner: &dyn Fn(u16) -> Option<usize>) -> Self {
        let calls = plans.into_iter().map(|plan| {
            let mut sources = Vec::new();
            for expr in plan.args.iter().chain(&plan.partition).chain(&plan.when) {
                expr.each_col(&mut |col| sources.extend(owner(col)));
            }
            sources.sort_unstable();
            sources.dedup();
            Call {
                def: plan.def,
                args: RowExpr::list(plan.args),
                partition: RowExpr::list(plan.partition),
                when: plan.when.map(RowExpr::new),
                col: plan.col,
                sources,
                states: HashMap::default(),
            }
        });
        Analytic { calls: calls.collect(), key: KeyBuf::default() }
    }
}

impl Call {
    fn fresh(&self) -> Result<State> {
        match self.def.kind {
            Kind::Analytic(new) | Kind::MultiColumn(new) => Ok(new()),
            _ => Err(Error::new(format!("internal: {} is no analytic function", self.def.name))),
        }
    }

    fn value(
        &mut self,
        chunk: &Chunk<'_>,
        row: u32,
        key: &mut KeyBuf,
        ocx: &mut OpCx<'_, '_>,
    ) -> Result<Value> {
        let set = chunk.emission.is_set();
        if !set && !self.sources.is_empty() && !self.sources.contains(&chunk.source.of(row)) {
            return Ok(Value::Missing);
        }
        let (times, at) = (Times::of(chunk), row as usize);
        let mut args: SmallVec<[Value; 4]> = SmallVec::with_capacity(self.args.len());
        for arg in self.args.iter() {
            args.push(arg.eval(&chunk.frame, times, at, ocx.cx)?);
        }
        key.clear();
        for expr in self.partition.iter() {
            key.push(&expr.eval(&chunk.frame, times, at, ocx.cx)?);
        }
        let counts = match &self.when {
            Some(when) => when.eval(&chunk.frame, times, at, ocx.cx)?.as_bool() == Some(true),
            None => true,
        };
        if !self.states.contains_key(key.bytes()) {
            let fresh = self.fresh()?;
            self.states.insert(key.bytes().into(), fresh);
        }
        match self.states.get_mut(key.bytes()) {
            Some(state) if counts => state.push(&args),
            Some(state) => state.skip(&args),
            None => Ok(Value::Null),
        }
    }

    /// The column of results. Rows that fail are taken out of the selection.
    fn column(
        &mut self,
        chunk: &mut Chunk<'_>,
        key: &mut KeyBuf,
        ocx: &mut OpCx<'_, '_>,
        errors: &mut Vec<Error>,
    ) -> Column {
        let mut values = vec![Value::Missing; chunk.frame.rows];
        let mut sel = std::mem::take(chunk.sel);
        sel.retain(|row| match self.value(chunk, *row, key, ocx) {
            Ok(value) => {
                if let Some(slot) = values.get_mut(*row as usize) {
                    *slot = value;
                }
                true
            }
            Err(error) => {
                errors.push(error);
                false
            }
        });
        *chunk.sel = sel;
        Column::values(values)
    }
}

/// Runs the calls one after the other: a later one may read the column of an earlier one.
fn run(
    calls: &mut [Call],
    key: &mut KeyBuf,
    mut chunk: Chunk<'_>,
    ocx: &mut OpCx<'_, '_>,
    next: &mut Next<'_>,
) {
    let Some((call, rest)) = calls.split_first_mut() else { return next.push(chunk, ocx) };
    let mut errors = Vec::new();
    let column = call.column(&mut chunk, key, ocx, &mut errors);
    errors.iter().for_each(|e| next.error(e, ocx));
    if chunk.emission.is_set() && !errors.is_empty() {
        return;
    }
    let Chunk { mut frame, stamps, sel, emission, source } = chunk;
    put(&mut frame, call.col, &column);
    run(rest, key, Chunk { frame, stamps, sel, emission, source }, ocx, next);
}

impl Op for Analytic {
    fn push(&mut self, chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        run(&mut self.calls, &mut self.key, chunk, ocx, &mut next);
    }

    fn save(&self) -> Value {
        let pair = |key: &[u8], state: &State| {
            Value::array(vec![Value::bytes(key), state.save()])
        };
        let call = |c: &Call| Value::array(c.states.iter().map(|(k, s)| pair(k, s)).collect());
        Value::array(self.calls.iter().map(call).collect())
    }

    fn load(&mut self, state: &Value) {
        let saved = state.as_array().map(|a| a.as_slice()).unwrap_or_default();
        if saved.len() != self.calls.len() {
            return; // of another plan
        }
        for (call, saved) in self.calls.iter_mut().zip(saved) {
            for pair in saved.as_array().map(|a| a.as_slice()).unwrap_or_default() {
                if let Some([Value::Bytes(key), state]) = pair.as_array().map(|a| a.as_slice())
                    && let Ok(mut fresh) = call.fresh()
                {
                    fresh.load(state);
                    call.states.insert(key.as_ref().into(), fresh);
                }
            }
        }
    }
}
