//! STATEWINDOW: rows from one that opens to one that closes, for each partition of its own.
//!
//! Holds the rows of every open partition, and a few bytes for each partition seen.

use hashbrown::HashMap;
use rekuiper_plan::physical::{WindowPlan, WindowShape};
use rekuiper_value::{Result, Value};

use super::assign::state::{State, Step};
use super::assign::{Span, Stay};
use super::hold::rows::Rows;
use super::hold::{Hold, RunTimes};
use crate::chunk::WindowTimes;
use crate::filter::Condition;
use crate::frames::{RowExpr, Times};
use crate::key::KeyBuf;
use crate::{Chunk, Next, Op, OpCx};

struct Part {
    state: State,
    rows: Rows,
}

/// See the module's doc.
pub struct StateWindow {
    begin: Option<RowExpr>,
    end: Option<RowExpr>,
    partition: Box<[RowExpr]>,
    filter: Option<Condition>,
    keep: Vec<u16>,
    width: usize,
    parts: HashMap<Box<[u8]>, Part, ahash::RandomState>,
    key: KeyBuf,
    clock: i64,
}

impl StateWindow {
    pub fn new(plan: WindowPlan, keep: Vec<u16>, width: usize) -> Self {
        let (begin, end) = match plan.shape {
            WindowShape::State { begin, end } => (Some(begin), end),
            _ => (None, None),
        };
        StateWindow {
            begin: begin.map(RowExpr::new),
            end: end.map(RowExpr::new),
            partition: RowExpr::list(plan.partition),
            filter: plan.filter.map(Condition::new),
            keep,
            width,
            parts: HashMap::default(),
            key: KeyBuf::default(),
            clock: i64::MIN,
        }
    }

    fn row(
        &mut self,
        chunk: &Chunk<'_>,
        row: u32,
        ocx: &mut OpCx<'_, '_>,
        next: &mut Next<'_>,
    ) -> Result<()> {
        let (times, at) = (Times::of(chunk), row as usize);
        self.key.clear();
        for expr in self.partition.iter() {
            self.key.push(&expr.eval(&chunk.frame, times, at, ocx.cx)?);
        }
        let mut holds = |e: &Option<RowExpr>| match e {
            Some(e) => {
                e.eval(&chunk.frame, times, at, ocx.cx).map(|v| Some(v.as_bool() == Some(true)))
            }
            None => Ok(None),
        };
        let (begin, end) = (holds(&self.begin)?.unwrap_or(false), holds(&self.end)?);
        self.clock = self.clock.max(chunk.stamps.get(at));
        let clock = self.clock;
        let part = match self.parts.get_mut(self.key.bytes()) {
            Some(part) => part,
            None if begin => {
                let rows = Rows::new(self.keep.clone(), self.width);
                let fresh = Part { state: State::default(), rows };
                self.parts.entry(self.key.bytes().into()).or_insert(fresh)
            }
            None => return Ok(()), // nothing open, nothing to open: not worth a partition
        };
        let step = part.state.step(begin, end);
        if step == Step::EmitAndKeep {
            part.emit(clock, ocx, next);
        }
        if step != Step::Pass {
            part.rows.push_rows(chunk, &[row], RunTimes::Same(clock));
        }
        if step == Step::KeepAndEmit {
            part.emit(clock, ocx, next);
            self.parts.remove(self.key.bytes());
        }
        Ok(())
    }
}

impl Part {
    fn emit(&mut self, end: i64, ocx: &mut OpCx<'_, '_>, next: &mut Next<'_>) {
        let start = (self.rows.held() > 0).then(|| self.rows.time(0));
        let times = WindowTimes { start, end: Some(end), trigger: Some(end) };
        self.rows.emit(Span::All, times, ocx, next);
        self.rows.keep(Stay::None);
    }
}

impl Op for StateWindow {
    fn push(&mut self, mut chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        if let Some(filter) = &self.filter {
            let mut errors = Vec::new();
            filter.select(&mut chunk, ocx, &mut |_, e| errors.push(e));
            errors.iter().for_each(|e| next.error(e, ocx));
        }
        for at in 0..chunk.sel.len() {
            let row = chunk.sel[at];
            if let Err(error) = self.row(&chunk, row, ocx, &mut next) {
                next.error(&error, ocx);
            }
        }
    }

    fn held(&self) -> usize {
        self.parts.values().map(|p| p.rows.held()).sum()
    }

    fn save(&self) -> Value {
        let part = |key: &[u8], part: &Part| {
            let open = Value::Bool(part.state.open);
            Value::array(vec![Value::bytes(key), open, part.rows.save()])
        };
        let parts = self.parts.iter().map(|(key, p)| part(key, p)).collect();
        Value::array(vec![Value::Int(self.clock), Value::array(parts)])
    }

    fn load(&mut self, state: &Value) {
        let Some([Value::Int(clock), Value::Array(parts)]) =
            state.as_array().map(|a| a.as_slice())
        else {
            return;
        };
        self.clock = *clock;
        self.parts.clear();
        for part in parts.iter() {
            let Some([Value::Bytes(key), Value::Bool(open), rows]) =
                part.as_array().map(|a| a.as_slice())
            else {
                continue;
            };
            let mut held = Rows::new(self.keep.clone(), self.width);
            held.load(rows);
            let part = Part { state: State { open: *open }, rows: held };
            self.parts.insert(key.as_ref().into(), part);
        }
    }
}
