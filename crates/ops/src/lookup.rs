//! Lookup joins: the rows of a table are asked for, one question a row.
//!
//! A null key asks nothing and finds nothing. LEFT keeps a row that finds nothing; all other kinds
//! drop it. Holds answers where the table has a cache, at most as many as it is allowed.

use std::sync::Arc;

use hashbrown::HashMap;
use rekuiper_expr::{Env, Expr, truth};
use rekuiper_plan::physical::{JoinKind, LookupPlan, SourcePlan};
use rekuiper_value::batch::Stamps;
use rekuiper_value::{Column, Error, Field, Object, Result, Str, Value};

use crate::chunk::{Emission, WindowTimes};
use crate::frames::{RowExpr, Times, gather, spread};
use crate::key::KeyBuf;
use crate::{Chunk, Next, Op, OpCx};

/// A table that can be asked.
pub trait LookupTable: Send + Sync {
    /// The rows whose columns have these values.
    fn find(&self, keys: &[(Str, Value)]) -> Result<Vec<Arc<Object>>>;
}

/// How answers are kept.
#[derive(Clone, Copy, Debug)]
pub struct CacheOptions {
    /// Milliseconds that an answer holds; 0: for ever.
    pub ttl_ms: i64,
    /// Whether finding nothing is an answer to keep.
    pub missing: bool,
    /// Most answers; beyond it the oldest half goes.
    pub capacity: usize,
}

impl Default for CacheOptions {
    fn default() -> Self {
        CacheOptions { ttl_ms: 0, missing: false, capacity: 10_000 }
    }
}

/// A table and how it is asked.
#[derive(Clone)]
pub struct Lookups {
    pub table: Arc<dyn LookupTable>,
    pub cache: Option<CacheOptions>,
}

type Answer = Arc<Vec<Arc<Object>>>;

/// Answers with the time they were got.
struct Cache {
    options: CacheOptions,
    answers: HashMap<Box<[u8]>, (i64, Answer), ahash::RandomState>,
}

impl Cache {
    fn get(&self, key: &[u8], now: i64) -> Option<Answer> {
        let (at, answer) = self.answers.get(key)?;
        let old = self.options.ttl_ms > 0 && now - at >= self.options.ttl_ms;
        (!old).then(|| answer.clone())
    }

    fn put(&mut self, key: &[u8], now: i64, answer: &Answer) {
        if self.options.capacity == 0 || (answer.is_empty() && !self.options.missing) {
            return;
        }
        if self.answers.len() >= self.options.capacity {
            let mut times: Vec<i64> = self.answers.values().map(|(at, _)| *at).collect();
            times.sort_unstable();
            let middle = times[times.len() / 2];
            self.answers.retain(|_, (at, _)| *at > middle);
        }
        self.answers.insert(key.into(), (now, answer.clone()));
    }
}

/// See the module's doc.
pub struct Lookup {
    left: bool,
    keys: Vec<(Str, RowExpr)>,
    on: Option<Expr>,
    table: Option<Lookups>,
    cache: Option<Cache>,
    /// The table's columns in the rule's numbering, and what each is.
    columns: Vec<(u16, Field)>,
    /// Other columns that later steps, or ON, read.
    others: Vec<u16>,
    width: usize,
    key: KeyBuf,
}

/// Result rows: which row of the chunk each comes from, and what was found.
#[derive(Default)]
struct Found {
    from: Vec<u32>,
    with: Vec<Option<Arc<Object>>>,
}

impl Lookup {
    /// `after`: the columns that later steps read.
    pub fn new(
        plan: LookupPlan,
        source: &SourcePlan,
        table: Option<Lookups>,
        after: Vec<u16>,
        width: usize,
    ) -> Self {
        let numbered = source.fields.iter().enumerate();
        let columns: Vec<(u16, Field)> =
            numbered.map(|(i, f)| ((source.first_col + i) as u16, f.clone())).collect();
        let mut others = after;
        if let Some(on) = &plan.on {
            on.each_col(&mut |col| others.push(col));
        }
        others.sort_unstable();
        others.dedup();
        others.retain(|col| columns.iter().all(|(own, _)| own != col));
        let options = table.as_ref().and_then(|t| t.cache);
        Lookup {
            left: matches!(plan.kind, JoinKind::Left | JoinKind::Full),
            keys: plan.keys.into_iter().map(|(name, e)| (name, RowExpr::new(e))).collect(),
            on: plan.on,
            cache: options.map(|options| Cache { options, answers: HashMap::default() }),
            table,
            columns,
            others,
            width,
            key: KeyBuf::default(),
        }
    }

    fn ask(&mut self, chunk: &Chunk<'_>, row: u32, ocx: &mut OpCx<'_, '_>) -> Result<Answer> {
        let times = Times::of(chunk);
        let mut keys = Vec::with_capacity(self.keys.len());
        self.key.clear();
        for (name, expr) in &self.keys {
            let value = expr.eval(&chunk.frame, times, row as usize, ocx.cx)?;
            if value.is_null() {
                return Ok(Answer::default());
            }
            self.key.push(&value);
            keys.push((name.clone(), value));
        }
        let now = ocx.cx.now_ms;
        if let Some(answer) = self.cache.as_ref().and_then(|c| c.get(self.key.bytes(), now)) {
            return Ok(answer);
        }
        let Some(table) = &self.table else {
            return Err(Error::new("the lookup table of this rule cannot be asked"));
        };
        let answer = Arc::new(table.table.find(&keys)?);
        if let Some(cache) = &mut self.cache {
            cache.put(self.key.bytes(), now, &answer);
        }
        Ok(answer)
    }

    fn columns(&self, chunk: &Chunk<'_>, found: &Found) -> (Vec<u16>, Vec<Column>) {
        let mut places = self.others.clone();
        let mut columns = gather(&chunk.frame, &self.others, &found.from);
        for (col, field) in &self.columns {
            let value = |row: &Option<Arc<Object>>| match (row, field) {
                (Some(row), Field::Named(name)) => row.get(name).cloned().unwrap_or_default(),
                (Some(row), Field::Whole) => Value::Object(row.clone()),
                _ => Value::Missing,
            };
            places.push(*col);
            columns.push(Column::values(found.with.iter().map(value).collect()));
        }
        (places, columns)
    }

    /// What the rows `sel` find, ON included.
    fn find(&mut self, chunk: &Chunk<'_>, sel: &[u32], ocx: &mut OpCx<'_, '_>) -> Result<Found> {
        let mut out = Found::default();
        for row in sel {
            let answer = self.ask(chunk, *row, ocx)?;
            let mut found = Found {
                from: vec![*row; answer.len()],
                with: answer.iter().map(|o| Some(o.clone())).collect(),
            };
            if let (Some(on), false) = (&self.on, answer.is_empty()) {
                let (places, columns) = self.columns(chunk, &found);
                let frame = spread(&places, &columns, self.width, answer.len());
                let env = Env { frame: &frame, cx: ocx.cx };
                let mut fits = Vec::with_capacity(answer.len());
                for at in 0..answer.len() {
                    fits.push(truth(on, env, at)?);
                }
                let mut fit = fits.iter();
                found.with.retain(|_| fit.next() == Some(&true));
                found.from.truncate(found.with.len());
            }
            if found.from.is_empty() && self.left {
                found.from.push(*row);
                found.with.push(None);
            }
            out.from.append(&mut found.from);
            out.with.append(&mut found.with);
        }
        Ok(out)
    }

    fn run(
        &mut self,
        chunk: &Chunk<'_>,
        sel: &[u32],
        times: WindowTimes,
        ocx: &mut OpCx<'_, '_>,
        next: &mut Next<'_>,
    ) {
        let found = match self.find(chunk, sel, ocx) {
            Ok(found) => found,
            Err(error) => return next.error(&error, ocx),
        };
        if found.from.is_empty() {
            return;
        }
        let (places, columns) = self.columns(chunk, &found);
        let rows = found.from.len();
        let frame = spread(&places, &columns, self.width, rows);
        let stamps = found.from.iter().map(|row| chunk.stamps.get(*row as usize)).collect();
        let stamps = Stamps::Each(stamps);
        let mut sel: Vec<u32> = (0..rows as u32).collect();
        let emission = Emission::Set(times);
        next.push(
            Chunk { frame, stamps: &stamps, sel: &mut sel, emission, source: chunk.source },
            ocx,
        );
    }
}

impl Op for Lookup {
    fn push(&mut self, chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        if let Emission::Set(times) = chunk.emission {
            return self.run(&chunk, chunk.sel, times, ocx, &mut next);
        }
        for row in chunk.sel.iter() {
            self.run(&chunk, &[*row], WindowTimes::default(), ocx, &mut next);
        }
    }
}
