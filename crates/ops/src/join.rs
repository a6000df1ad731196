//! Joins of the rows of a set, and of stream rows with scan tables.
//!
//! The outcome is that of nested loops over the rows in their order; where ON holds `left = right`
//! the rows of the right side are found by hash. A null is equal to nothing. A row that one side
//! lacks has missing columns. An error in ON loses the result. A join that gives no row is no
//! result.
//!
//! Holds the newest rows of each scan table, as many as it retains.

mod tuples;

use hashbrown::HashMap;
use rekuiper_expr::{CmpOp, Env, Expr, Frame, truth};
use rekuiper_plan::physical::{JoinKind, JoinPlan, SourceKind, SourcePlan};
use rekuiper_value::batch::Stamps;
use rekuiper_value::{Column, Error, Field, Object, Result, Str, Value};

use crate::chunk::{Emission, Origin, WindowTimes};
use crate::frames::spread;
use crate::key;
use crate::window::assign::Stay;
use crate::window::hold::rows::Rows;
use crate::window::hold::{Hold, RunTimes};
use crate::{Chunk, Next, Op, OpCx};
use tuples::{NONE, Pool, Tuples};

/// Pairs that are tried, and rows that a join may give, at once.
const BLOCK: usize = 1024;
const ROWS_MAX: usize = 10_000_000;

struct Step {
    kind: JoinKind,
    right: usize,
    on: Option<Expr>,
    on_cols: Vec<u16>,
    left_keys: Vec<Expr>,
    right_keys: Vec<Expr>,
    /// The keys say all that ON says.
    keys_only: bool,
}

/// See the module's doc.
pub struct Join {
    steps: Vec<Step>,
    /// By source: a scan table's rows and how many it retains.
    tables: Vec<Option<(Rows, usize)>>,
    /// By source: its name, and what its columns are called.
    names: Vec<(Str, Vec<(u16, Field)>)>,
    /// By column: the source it comes from; computed ones have none.
    owners: Vec<Option<usize>>,
    /// Columns that later steps read.
    after: Vec<u16>,
    width: usize,
}

fn columns_of<'a>(exprs: impl IntoIterator<Item = &'a Expr>) -> Vec<u16> {
    let mut cols = Vec::new();
    exprs.into_iter().for_each(|e| e.each_col(&mut |c| cols.push(c)));
    cols.sort_unstable();
    cols.dedup();
    cols
}

/// Whether the condition is nothing but so many equalities.
fn only_equalities(on: &Expr, pairs: usize) -> bool {
    let (mut open, mut found) = (vec![on], 0);
    while let Some(e) = open.pop() {
        match e {
            Expr::And(p) => open.extend([&p.0, &p.1]),
            Expr::Cmp(CmpOp::Eq, _) => found += 1,
            _ => return false,
        }
    }
    found == pairs
}

impl Step {
    fn new(plan: JoinPlan) -> Self {
        let keys_only = match &plan.on {
            Some(on) => only_equalities(on, plan.equal.len()),
            None => true,
        };
        let (left_keys, right_keys) = plan.equal.into_iter().unzip();
        Step {
            kind: plan.kind,
            right: plan.right,
            on_cols: columns_of(&plan.on),
            on: plan.on,
            left_keys,
            right_keys,
            keys_only,
        }
    }
}

/// The source of each column that comes from one.
pub fn owners(sources: &[SourcePlan], width: usize) -> Vec<Option<usize>> {
    let mut owners = vec![None; width];
    for (at, source) in sources.iter().enumerate() {
        for col in source.first_col..source.first_col + source.fields.len() {
            if let Some(owner) = owners.get_mut(col) {
                *owner = Some(at);
            }
        }
    }
    owners
}

impl Join {
    /// `after`: the columns that later steps read.
    pub fn new(
        plans: Vec<JoinPlan>,
        kinds: &[SourceKind],
        owners: Vec<Option<usize>>,
        after: Vec<u16>,
        width: usize,
    ) -> Self {
        let steps: Vec<Step> = plans.into_iter().map(Step::new).collect();
        let keys = steps.iter().flat_map(|s| s.left_keys.iter().chain(&s.right_keys));
        let read = columns_of(keys.chain(steps.iter().flat_map(|s| &s.on)));
        let table = |(at, kind): (usize, &SourceKind)| match kind {
            SourceKind::ScanTable { retain } => {
                let own = |c: &u16| owners.get(usize::from(*c)) == Some(&Some(at));
                let mut keep: Vec<u16> = after.iter().chain(&read).copied().filter(own).collect();
                keep.sort_unstable();
                keep.dedup();
                Some((Rows::new(keep, width), *retain))
            }
            _ => None,
        };
        let tables = kinds.iter().enumerate().map(table).collect();
        Join { steps, tables, names: Vec::new(), owners, after, width }
    }

    /// Remembers what sources and columns are called, to show the rows of tables.
    pub fn naming(mut self, sources: &[SourcePlan]) -> Self {
        let fields = |s: &SourcePlan| {
            let cols = (s.first_col as u16..).zip(s.fields.iter().cloned());
            (s.stream.clone(), cols.collect())
        };
        self.names = sources.iter().map(fields).collect();
        self
    }

    /// Keys of tuples: `None` where a part is null.
    fn keys(
        &self,
        exprs: &[Expr],
        tuples: &Tuples,
        pool: &Pool<'_>,
        ocx: &mut OpCx<'_, '_>,
    ) -> Result<Vec<Option<Vec<u8>>>> {
        let cols = columns_of(exprs);
        let columns = pool.columns(&cols, tuples, 0..tuples.len());
        let frame = spread(&cols, &columns, self.width, tuples.len());
        let env = Env { frame: &frame, cx: ocx.cx };
        let mut keys = Vec::with_capacity(tuples.len());
        for row in 0..tuples.len() {
            let mut bytes = Some(Vec::new());
            for expr in exprs {
                match (expr.eval(env, row)?, &mut bytes) {
                    (value, _) if value.is_null() => bytes = None,
                    (value, Some(out)) => key::write_part(out, &value),
                    (_, None) => {}
                }
            }
            keys.push(bytes);
        }
        Ok(keys)
    }

    fn step(
        &self,
        step: &Step,
        left: Tuples,
        pool: &Pool<'_>,
        ocx: &mut OpCx<'_, '_>,
    ) -> Result<Tuples> {
        let right_rows = pool.rows(step.right);
        let mut by_key: HashMap<Vec<u8>, Vec<u32>, ahash::RandomState> = HashMap::default();
        let mut left_keys = Vec::new();
        let hashed = !step.right_keys.is_empty();
        if hashed {
            let right = Tuples::of(self.tables.len(), step.right, &right_rows);
            let keys = self.keys(&step.right_keys, &right, pool, ocx)?;
            for (at, key) in keys.into_iter().enumerate() {
                if let Some(key) = key {
                    by_key.entry(key).or_default().push(at as u32);
                }
            }
            left_keys = self.keys(&step.left_keys, &left, pool, ocx)?;
        }
        let everyone: Vec<u32> =
            if hashed { Vec::new() } else { (0..right_rows.len() as u32).collect() };
        let mut out = Tuples::new(self.tables.len());
        let mut used = vec![false; right_rows.len()];
        for at in 0..left.len() {
            let candidates: &[u32] = match left_keys.get(at) {
                Some(Some(key)) => by_key.get(key).map(Vec::as_slice).unwrap_or_default(),
                Some(None) => &[],
                None => &everyone,
            };
            let before = out.len();
            for block in candidates.chunks(BLOCK) {
                let start = out.len();
                for candidate in block {
                    out.push_joined(&left, at, step.right, right_rows[*candidate as usize]);
                }
                let fits = self.fits(step, &out, start, pool, ocx)?;
                for (candidate, fit) in block.iter().zip(&fits) {
                    used[*candidate as usize] |= *fit;
                }
                out.keep_from(start, &fits);
            }
            if out.len() == before && matches!(step.kind, JoinKind::Left | JoinKind::Full) {
                out.push_joined(&left, at, step.right, NONE);
            }
            if out.len() > ROWS_MAX {
                let text = format!("a join may give {ROWS_MAX} rows, and this gives more");
                return Err(Error::new(text));
            }
        }
        if matches!(step.kind, JoinKind::Right | JoinKind::Full) {
            let alone = right_rows.iter().zip(&used).filter(|(_, used)| !**used);
            alone.for_each(|(row, _)| out.push_alone(step.right, *row));
        }
        Ok(out)
    }

    /// Whether ON holds for the tuples from `start` on.
    fn fits(
        &self,
        step: &Step,
        tuples: &Tuples,
        start: usize,
        pool: &Pool<'_>,
        ocx: &mut OpCx<'_, '_>,
    ) -> Result<Vec<bool>> {
        let rows = tuples.len() - start;
        let (Some(on), false) = (&step.on, step.keys_only) else { return Ok(vec![true; rows]) };
        let columns = pool.columns(&step.on_cols, tuples, start..tuples.len());
        let frame = spread(&step.on_cols, &columns, self.width, rows);
        let env = Env { frame: &frame, cx: ocx.cx };
        (0..rows).map(|row| truth(on, env, row)).collect()
    }

    /// Joins the rows `sel` of the chunk with each other and with the tables.
    fn tuples(
        &self,
        chunk: &Chunk<'_>,
        sel: &[u32],
        tables: &[Option<Frame<'_>>],
        ocx: &mut OpCx<'_, '_>,
    ) -> Result<(Tuples, Vec<Column>, Stamps)> {
        let retained = self.tables.iter().map(|t| t.as_ref().map(|(rows, _)| rows.live()));
        let pool = Pool { chunk, sel, tables, retained: retained.collect(), owners: &self.owners };
        let mut tuples = Tuples::of(self.tables.len(), 0, &pool.rows(0));
        for step in &self.steps {
            tuples = self.step(step, tuples, &pool, ocx)?;
        }
        let columns = pool.columns(&self.after, &tuples, 0..tuples.len());
        let stamps = (0..tuples.len()).map(|at| pool.stamp(&tuples, at)).collect();
        Ok((tuples, columns, Stamps::Each(stamps)))
    }

    fn join(&self, chunk: &Chunk<'_>, sel: &[u32], ocx: &mut OpCx<'_, '_>, next: &mut Next<'_>) {
        let tables: Vec<Option<Frame<'_>>> =
            self.tables.iter().map(|t| t.as_ref().map(|(rows, _)| rows.frame())).collect();
        let (tuples, columns, stamps) = match self.tuples(chunk, sel, &tables, ocx) {
            Ok(found) => found,
            Err(error) => return next.error(&error, ocx),
        };
        let frame = spread(&self.after, &columns, self.width, tuples.len());
        let mut rows: Vec<u32> = Vec::new();
        let mut at = 0;
        while at < tuples.len() {
            // of single rows each gives a result of its own
            let to = if chunk.emission.is_set() { tuples.len() } else { tuples.run(at) };
            rows.clear();
            rows.extend(at as u32..to as u32);
            let emission = match chunk.emission {
                Emission::Set(times) => Emission::Set(times),
                Emission::Rows => Emission::Set(WindowTimes::default()),
            };
            let (frame, source) = (frame.clone(), Origin::One(0));
            next.push(Chunk { frame, stamps: &stamps, sel: &mut rows, emission, source }, ocx);
            at = to;
        }
    }

    /// Whether the rows of a batch may be joined at once: each row's results then stand together.
    fn together(&self) -> bool {
        let lists_all = |s: &Step| matches!(s.kind, JoinKind::Right | JoinKind::Full);
        self.tables.first().is_some_and(Option::is_none) && !self.steps.iter().any(lists_all)
    }
}

impl Op for Join {
    fn push(&mut self, chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        if let Origin::One(source) = chunk.source
            && let Some(Some((rows, retain))) = self.tables.get_mut(source)
            && !chunk.emission.is_set()
        {
            rows.push_rows(&chunk, chunk.sel, RunTimes::Same(0));
            return rows.keep(Stay::Last(*retain));
        }
        if chunk.emission.is_set() || self.together() {
            return self.join(&chunk, chunk.sel, ocx, &mut next);
        }
        for row in chunk.sel.iter() {
            self.join(&chunk, &[*row], ocx, &mut next);
        }
    }

    fn held(&self) -> usize {
        self.tables.iter().flatten().map(|(rows, _)| rows.held()).sum()
    }

    fn tables(&self) -> Vec<(Str, Vec<Value>)> {
        let table = |(table, (name, fields)): (&Option<(Rows, usize)>, &(Str, Vec<_>))| {
            let (rows, _) = table.as_ref()?;
            let frame = rows.frame();
            let row = |row| {
                let mut object = Object::default();
                for (col, field) in fields {
                    let value = frame.col(*col).map_or(Value::Missing, |c| c.value(row));
                    match (field, value) {
                        (_, Value::Missing) => {}
                        (Field::Named(name), value) => {
                            object.insert(name.clone(), value);
                        }
                        (Field::Whole, Value::Object(all)) => {
                            object.extend(all.iter().map(|(k, v)| (k.clone(), v.clone())));
                        }
                        _ => {}
                    }
                }
                Value::object(object)
            };
            Some((name.clone(), rows.live().map(row).collect()))
        };
        self.tables.iter().zip(&self.names).filter_map(table).collect()
    }

    fn save(&self) -> Value {
        let table = |t: &Option<(Rows, usize)>| t.as_ref().map_or(Value::Null, |(r, _)| r.save());
        Value::array(self.tables.iter().map(table).collect())
    }

    fn load(&mut self, state: &Value) {
        let saved = state.as_array().map(|a| a.as_slice()).unwrap_or_default();
        for (table, saved) in self.tables.iter_mut().zip(saved) {
            if let Some((rows, _)) = table {
                rows.load(saved);
            }
        }
    }
}
