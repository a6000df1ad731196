//! The aggregates of all groups.

use rekuiper_expr::{Env, Expr, NumExpr};
use rekuiper_functions::{Accumulator, FunctionDef};
use rekuiper_plan::physical::AggregateCall;
use rekuiper_value::{CellKind, Column, Error, Result, Value};
use smallvec::SmallVec;

use super::running::Running;
use crate::frames::{RowExpr, Times};
use crate::{Chunk, OpCx};

/// One call over all groups.
pub struct Aggregate {
    def: &'static FunctionDef,
    args: Box<[RowExpr]>,
    /// The only argument, where it is arithmetic over plain columns.
    arithmetic: Option<NumExpr>,
    pub col: u16,
    state: State,
}

enum State {
    /// count of something that is never null.
    Rows(Vec<u64>),
    Count(Vec<u64>),
    Running(Running),
    Any(Vec<Box<dyn Accumulator>>),
}

impl Aggregate {
    pub fn new(call: AggregateCall) -> Self {
        let AggregateCall { def, args, col } = call;
        let counts = matches!(def.name, "count" | "inc_count");
        let state = match (&args[..], Running::of(def)) {
            ([_], Some(running)) => State::Running(running),
            ([Expr::Lit(value)], None) if counts && !value.is_null() => State::Rows(Vec::new()),
            ([_], None) if counts => State::Count(Vec::new()),
            _ => State::Any(Vec::new()),
        };
        let arithmetic = match &args[..] {
            [only] => NumExpr::of(only),
            _ => None,
        };
        Aggregate { def, args: RowExpr::list(args), arithmetic, col, state }
    }

    fn fresh(&self) -> Result<Box<dyn Accumulator>> {
        let wrong = || Error::new(format!("internal: {} is no aggregate", self.def.name));
        self.def.accumulator().ok_or_else(wrong)
    }

    /// Makes room for so many groups.
    pub fn grow(&mut self, groups: usize) -> Result<()> {
        while matches!(&self.state, State::Any(all) if all.len() < groups) {
            let fresh = self.fresh()?;
            if let State::Any(all) = &mut self.state {
                all.push(fresh);
            }
        }
        match &mut self.state {
            State::Rows(counts) | State::Count(counts) => counts.resize(groups, 0),
            State::Running(running) => running.grow(groups),
            State::Any(_) => {}
        }
        Ok(())
    }

    pub fn clear(&mut self, roomy: bool) {
        match &mut self.state {
            State::Rows(counts) | State::Count(counts) if roomy => *counts = Vec::new(),
            State::Rows(counts) | State::Count(counts) => counts.clear(),
            State::Running(running) => running.clear(roomy),
            State::Any(all) => *all = Vec::new(),
        }
    }

    /// Rows, each into its group.
    pub fn add(
        &mut self,
        chunk: &Chunk<'_>,
        rows: &[u32],
        ids: &[u32],
        ocx: &mut OpCx<'_, '_>,
    ) -> Result<()> {
        if let State::Rows(counts) = &mut self.state {
            ids.iter().for_each(|id| counts[*id as usize] += 1);
            return Ok(());
        }
        let column = match &self.args[..] {
            [RowExpr { expr: Expr::Col(col), .. }] => chunk.frame.col(*col),
            _ => None,
        };
        match (&mut self.state, column) {
            (State::Running(running), Some(column)) => {
                running.add_column(column, rows, ids);
                return Ok(());
            }
            (State::Count(counts), Some(column)) => {
                count_column(counts, column, rows, ids);
                return Ok(());
            }
            _ => {}
        }
        if let (Some(fast), State::Running(running)) = (&self.arithmetic, &mut self.state) {
            let env = Env { frame: &chunk.frame, cx: ocx.cx };
            if fast.applies(env) {
                for (row, id) in rows.iter().zip(ids) {
                    match fast.at(env, *row as usize) {
                        Some(f) => running.add_float(*id, f),
                        None => return Err(Error::new("divided by zero")),
                    }
                }
                return Ok(());
            }
        }
        self.add_rows(chunk, rows, ids, ocx)
    }

    fn add_rows(
        &mut self,
        chunk: &Chunk<'_>,
        rows: &[u32],
        ids: &[u32],
        ocx: &mut OpCx<'_, '_>,
    ) -> Result<()> {
        let times = Times::of(chunk);
        let mut values: SmallVec<[Value; 4]> = SmallVec::new();
        for (row, id) in rows.iter().zip(ids) {
            values.clear();
            for arg in self.args.iter() {
                values.push(arg.eval(&chunk.frame, times, *row as usize, ocx.cx)?);
            }
            match &mut self.state {
                State::Count(counts) => {
                    counts[*id as usize] += u64::from(values.iter().all(|v| !v.is_null()));
                }
                State::Running(running) => {
                    if let [value] = &values[..] {
                        running.add_value(*id, value);
                    }
                }
                State::Any(all) => {
                    if let Some(state) = all.get_mut(*id as usize) {
                        // it remembers its error and gives it with the result
                        let _ = state.add(&values);
                    }
                }
                State::Rows(_) => {}
            }
        }
        Ok(())
    }

    /// The result of each group, in their order.
    pub fn finish(&self, groups: usize) -> Result<Vec<Value>> {
        let ids = 0..groups as u32;
        match &self.state {
            State::Rows(counts) | State::Count(counts) => {
                Ok(counts.iter().map(|n| Value::Int(*n as i64)).collect())
            }
            State::Running(running) => ids.map(|id| running.finish(id)).collect(),
            State::Any(all) => all.iter().map(|state| state.finish()).collect(),
        }
    }

    /// The result over no rows at all.
    pub fn of_nothing(&self) -> Result<Value> {
        self.fresh()?.finish()
    }

    pub fn save(&self, groups: usize) -> Value {
        let states = match &self.state {
            State::Rows(counts) | State::Count(counts) => {
                counts.iter().map(|n| Value::Int(*n as i64)).collect()
            }
            State::Running(running) => (0..groups as u32).map(|id| running.saved(id)).collect(),
            State::Any(all) => all.iter().map(|state| state.save()).collect(),
        };
        Value::array(states)
    }

    /// Puts saved states into groups that have none yet; `grow` comes first.
    pub fn load(&mut self, states: &Value) {
        let states = states.as_array().map(|a| a.as_slice()).unwrap_or_default();
        match &mut self.state {
            State::Rows(counts) | State::Count(counts) => {
                for (count, state) in counts.iter_mut().zip(states) {
                    *count = state.as_f64().unwrap_or(0.0) as u64;
                }
            }
            State::Running(running) => {
                states.iter().enumerate().for_each(|(id, s)| running.load(id as u32, s));
            }
            State::Any(all) => all.iter_mut().zip(states).for_each(|(own, s)| own.load(s)),
        }
    }
}

fn count_column(counts: &mut [u64], column: &Column, rows: &[u32], ids: &[u32]) {
    if let Some((cells, _)) = column.as_cells() {
        for (row, id) in rows.iter().zip(ids) {
            let kind = cells.get(*row as usize).map_or(CellKind::Missing, |c| c.kind());
            let there = !matches!(kind, CellKind::Missing | CellKind::Null);
            counts[*id as usize] += u64::from(there);
        }
        return;
    }
    for (row, id) in rows.iter().zip(ids) {
        counts[*id as usize] += u64::from(!column.value(*row as usize).is_null());
    }
}
