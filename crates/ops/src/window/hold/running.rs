//! sum, avg, min and max of many groups at once: plain numbers in flat vectors, updated
//! column-wise.
//!
//! What does not fit there (text, numbers beyond 2^53, wrong kinds, a sum beyond 64 bits) moves the
//! group to the function's own accumulator, which goes on from the same state: both ways give the
//! same.

use hashbrown::HashMap;
use rekuiper_functions::{Accumulator, FunctionDef, Kind};
use rekuiper_value::{CellKind, Column, Object, Result, Value, column::Repr};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Sum,
    Avg,
    Min,
    Max,
}

const NONE: u8 = 0;
const INT: u8 = 1;
const FLOAT: u8 = 2;
const OWN: u8 = 3;

/// See the module's doc.
pub struct Running {
    op: Op,
    def: &'static FunctionDef,
    kinds: Vec<u8>,
    /// A double or an integer, as `kinds` says.
    bits: Vec<u64>,
    /// How many values; only for avg.
    counts: Vec<u64>,
    own: HashMap<u32, Box<dyn Accumulator>, ahash::RandomState>,
}

impl Running {
    /// `None` where the function is none of the four.
    pub fn of(def: &'static FunctionDef) -> Option<Self> {
        let op = match def.name.trim_start_matches("inc_") {
            "sum" => Op::Sum,
            "avg" => Op::Avg,
            "min" => Op::Min,
            "max" => Op::Max,
            _ => return None,
        };
        let (kinds, bits, counts) = (Vec::new(), Vec::new(), Vec::new());
        Some(Running { op, def, kinds, bits, counts, own: HashMap::default() })
    }

    pub fn grow(&mut self, groups: usize) {
        self.kinds.resize(groups, NONE);
        self.bits.resize(groups, 0);
        if self.op == Op::Avg {
            self.counts.resize(groups, 0);
        }
    }

    pub fn clear(&mut self, roomy: bool) {
        self.own = HashMap::default();
        if roomy {
            self.kinds = Vec::new();
            self.bits = Vec::new();
            self.counts = Vec::new();
        }
        self.kinds.clear();
        self.bits.clear();
        self.counts.clear();
    }

    /// A column's rows, each into its group.
    pub fn add_column(&mut self, column: &Column, rows: &[u32], ids: &[u32]) {
        match column.repr() {
            Repr::Cells(cells) => {
                let nums = column.nums();
                if nums.all_plain && !column.is_ints() && nums.vals.len() == cells.len() {
                    return self.add_numbers(&nums.vals, rows, ids);
                }
                for (row, id) in rows.iter().zip(ids) {
                    let at = *row as usize;
                    match cells.get(at).map(|c| c.kind()) {
                        None | Some(CellKind::Missing | CellKind::Null) => {}
                        Some(CellKind::Int) if column.is_ints() => {
                            self.add_int(*id, nums.vals.get(at).map_or(0, |f| *f as i64));
                        }
                        Some(CellKind::Int | CellKind::Decimal) if !column.is_ints() => {
                            self.add_float(*id, nums.vals.get(at).copied().unwrap_or(0.0));
                        }
                        Some(_) => self.add_value(*id, &column.value(at)),
                    }
                }
            }
            Repr::Values(values) => {
                for (row, id) in rows.iter().zip(ids) {
                    if let Some(value) = values.get(*row as usize) {
                        self.add_value(*id, value);
                    }
                }
            }
            Repr::Const(value, _) => ids.iter().for_each(|id| self.add_value(*id, value)),
            Repr::Floats(_) if column.nums().all_plain => {
                self.add_numbers(&column.nums().vals, rows, ids);
            }
            Repr::Floats(_) | Repr::Ints(_) => {
                for (row, id) in rows.iter().zip(ids) {
                    self.add_value(*id, &column.value(*row as usize));
                }
            }
        }
    }

    /// Doubles, all of them plain.
    fn add_numbers(&mut self, vals: &[f64], rows: &[u32], ids: &[u32]) {
        match self.op {
            Op::Sum => self.each(vals, rows, ids, |held, f| held + f),
            Op::Min => self.each(vals, rows, ids, |held, f| if f < held { f } else { held }),
            Op::Max => self.each(vals, rows, ids, |held, f| if f > held { f } else { held }),
            Op::Avg => {
                self.each(vals, rows, ids, |held, f| held + f);
            }
        }
    }

    #[inline(always)]
    fn each(&mut self, vals: &[f64], rows: &[u32], ids: &[u32], join: impl Fn(f64, f64) -> f64) {
        let counts = self.op == Op::Avg;
        for (row, id) in rows.iter().zip(ids) {
            let (f, group) = (vals[*row as usize], *id as usize);
            match self.kinds[group] {
                FLOAT => {
                    self.bits[group] = join(f64::from_bits(self.bits[group]), f).to_bits();
                    if counts {
                        self.counts[group] += 1;
                    }
                }
                NONE => {
                    self.kinds[group] = FLOAT;
                    self.bits[group] = f.to_bits();
                    if counts {
                        self.counts[group] = 1;
                    }
                }
                _ => self.add_float(*id, f),
            }
        }
    }

    fn counted(&mut self, group: usize) {
        if self.op == Op::Avg {
            self.counts[group] += 1;
        }
    }

    pub fn add_float(&mut self, id: u32, f: f64) {
        let group = id as usize;
        let next = match (self.kinds[group], self.op) {
            (OWN, _) => return self.add_own(id, &Value::Float(f)),
            (_, Op::Min | Op::Max) if f.is_nan() => return self.add_own(id, &Value::Float(f)),
            (NONE, _) => f,
            (FLOAT, Op::Sum | Op::Avg) => f64::from_bits(self.bits[group]) + f,
            (INT, Op::Sum | Op::Avg) => self.bits[group] as i64 as f64 + f,
            (FLOAT, Op::Min) => f64::from_bits(self.bits[group]).min(f),
            (FLOAT, Op::Max) => f64::from_bits(self.bits[group]).max(f),
            _ => return self.add_own(id, &Value::Float(f)),
        };
        // of two equal extremes (0 and -0) the first one stays
        let held = f64::from_bits(self.bits[group]);
        let stays =
            self.kinds[group] == FLOAT && matches!(self.op, Op::Min | Op::Max) && next == held;
        if !stays {
            self.kinds[group] = FLOAT;
            self.bits[group] = next.to_bits();
        }
        self.counted(group);
    }

    pub fn add_int(&mut self, id: u32, i: i64) {
        let group = id as usize;
        let held = self.bits[group] as i64;
        let next = match (self.kinds[group], self.op) {
            (NONE, _) => Some(i),
            (INT, Op::Sum | Op::Avg) => held.checked_add(i),
            (INT, Op::Min) => Some(held.min(i)),
            (INT, Op::Max) => Some(held.max(i)),
            (FLOAT, Op::Sum | Op::Avg) => return self.add_float(id, i as f64),
            _ => None,
        };
        match next {
            Some(next) => {
                self.kinds[group] = INT;
                self.bits[group] = next as u64;
                self.counted(group);
            }
            None => self.add_own(id, &Value::Int(i)),
        }
    }

    pub fn add_value(&mut self, id: u32, value: &Value) {
        match value {
            Value::Missing | Value::Null => {}
            Value::Int(i) => self.add_int(id, *i),
            Value::Float(f) => self.add_float(id, *f),
            other => self.add_own(id, other),
        }
    }

    /// From here on the group belongs to the function's own accumulator.
    #[cold]
    fn add_own(&mut self, id: u32, value: &Value) {
        if self.kinds[id as usize] != OWN {
            self.restore(id, &self.saved(id));
        }
        if let Some(state) = self.own.get_mut(&id) {
            // it remembers its error and gives it with the result
            let _ = state.add(std::slice::from_ref(value));
        }
    }

    /// Makes the own accumulator of a group from a saved state.
    fn restore(&mut self, id: u32, state: &Value) {
        if let Kind::Aggregate { new, .. } = self.def.kind {
            let mut own = new();
            own.load(state);
            self.own.insert(id, own);
            self.kinds[id as usize] = OWN;
        }
    }

    pub fn finish(&self, id: u32) -> Result<Value> {
        let group = id as usize;
        Ok(match (self.kinds[group], self.op) {
            (NONE, _) => Value::Null,
            (INT, Op::Avg) => {
                Value::Int(self.bits[group] as i64 / self.counts[group].max(1) as i64)
            }
            (FLOAT, Op::Avg) => {
                Value::Float(f64::from_bits(self.bits[group]) / self.counts[group].max(1) as f64)
            }
            (INT, _) => Value::Int(self.bits[group] as i64),
            (FLOAT, _) => Value::Float(f64::from_bits(self.bits[group])),
            _ => return self.own.get(&id).map_or(Ok(Value::Null), |own| own.finish()),
        })
    }

    /// The state as the function's accumulator writes it.
    pub fn saved(&self, id: u32) -> Value {
        let group = id as usize;
        if let Some(own) = self.own.get(&id) {
            return own.save();
        }
        let sums = matches!(self.op, Op::Sum | Op::Avg);
        let held = match self.kinds[group] {
            INT if sums => Value::from((self.bits[group] as i64).to_string()),
            INT => Value::Int(self.bits[group] as i64),
            FLOAT => Value::Float(f64::from_bits(self.bits[group])),
            _ => Value::Null,
        };
        let state = match self.op {
            Op::Avg => Value::array(vec![held, Value::Int(self.counts[group] as i64)]),
            _ => held,
        };
        Value::object(Object::from([("s".into(), state)]))
    }

    /// Puts a saved state into a group that has none. All states are given to the accumulator,
    /// which knows how to read them.
    pub fn load(&mut self, id: u32, state: &Value) {
        self.restore(id, state);
    }
}
