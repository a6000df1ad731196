//! SELECT: makes result rows of what passed the operators, as JSON text straight into a sink's
//! buffer where the select list allows it, or as objects.

use rekuiper_expr::{Env, Expr, Frame, NumExpr, Part};
use rekuiper_plan::physical::{OutItem, OutNulls, ProjectionPlan};
use rekuiper_value::batch::SourceColumns;
use rekuiper_value::column::{Repr, push_near, write_cell};
use rekuiper_value::{Cell, Column, Error, Object, Result, Str, Value, json, number};
use smallvec::SmallVec;

/// See the module's doc.
pub struct Projection {
    items: Box<[Item]>,
    /// No item can add a name that another one has: rows may be written item by item.
    direct: bool,
    pub uses_row_context: bool,
}

struct Item {
    /// `"name":`, ready to be copied; at least sixteen bytes are there.
    key: Box<[u8]>,
    key_len: usize,
    out: OutItem,
    fast: Fast,
}

/// How a field is written without making a value first.
enum Fast {
    No,
    Col(u16),
    Num(NumExpr),
}

impl Projection {
    pub fn new(plan: ProjectionPlan, uses_row_context: bool) -> Self {
        let single = plan.items.len() == 1;
        let mut names = Vec::new();
        let mut direct = true;
        for item in &plan.items {
            match item {
                OutItem::Field { name, .. } | OutItem::Const { name, .. } => {
                    names.push(name.clone())
                }
                OutItem::Row(parts) => direct &= single && matches!(parts[..], [Part::Spread(_)]),
                OutItem::Spread { .. } | OutItem::Members(_) => direct = false,
            }
        }
        names.sort();
        direct &= names.windows(2).all(|w| w[0] != w[1]);
        let items = plan.items.into_iter().map(Item::new).collect();
        Projection { items, direct, uses_row_context }
    }

    /// Whether [`write_json`](Self::write_json) copies fields without making an object.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// Appends the row's JSON object. On an error nothing is appended.
    pub fn write_json(&self, env: Env<'_>, row: usize, out: &mut Vec<u8>) -> Result<()> {
        self.writer(env.frame, &[row as u32]).write_json(env, 0, row, out)
    }

    /// What writes the rows `sel` of a frame as JSON.
    pub fn writer<'a>(&'a self, frame: &'a Frame<'a>, sel: &[u32]) -> RowWriter<'a> {
        let ways = match self.direct {
            true => self.items.iter().map(|item| item.way(frame, sel)).collect(),
            false => SmallVec::new(),
        };
        RowWriter { projection: self, ways }
    }

    fn write_direct(
        &self,
        ways: &[Way<'_>],
        env: Env<'_>,
        at: usize,
        row: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if let [Item { out: OutItem::Row(parts), .. }] = &self.items[..]
            && let [Part::Spread(Expr::Col(col))] = parts[..]
        {
            return match env.frame.col(col) {
                Some(column) if !column.is_missing(row) => column.write_json(row, out),
                _ => {
                    out.extend_from_slice(b"{}");
                    Ok(())
                }
            };
        }
        out.push(b'{');
        let start = out.len();
        for (item, way) in self.items.iter().zip(ways) {
            item.write(way, env, at, row, out)?;
        }
        if out.len() > start {
            out.pop(); // the comma after the last one
        }
        out.push(b'}');
        Ok(())
    }

    /// The rows `sel` as columns, where every item is a column whose selected rows all have a
    /// value, or arithmetic that is finite in all of them; else `None`, and the rows are to be
    /// asked for one by one.
    pub fn columns(&self, frame: &Frame<'_>, sel: &[u32]) -> Option<SourceColumns> {
        if !self.direct {
            return None;
        }
        let cols = self.items.iter().map(|item| item.column(frame, sel));
        let cols = cols.collect::<Option<Vec<Column>>>()?;
        Some(SourceColumns { names: self.names()?.into(), cols, rows: sel.len() })
    }

    /// The row as an object; members that are left out are not in it.
    pub fn object(&self, env: Env<'_>, row: usize) -> Result<Object> {
        let mut members = Object::new();
        for item in &self.items {
            item.put(env, row, &mut members)?;
        }
        Ok(members)
    }

    /// Names in the order of the select list; `None` where they are known only at run time.
    pub fn names(&self) -> Option<Vec<Str>> {
        self.items
            .iter()
            .map(|item| match &item.out {
                OutItem::Field { name, .. } | OutItem::Const { name, .. } => Some(name.clone()),
                _ => None,
            })
            .collect()
    }
}

/// Writes the rows of one frame: how each item is written was found before the first row.
pub struct RowWriter<'a> {
    projection: &'a Projection,
    ways: SmallVec<[Way<'a>; 8]>,
}

/// See [`RowWriter`]. Everything but `Eval` gives what evaluating would give.
enum Way<'a> {
    /// Text of the payload, copied.
    Cells { cells: &'a [Cell], column: &'a Column, nulls: OutNulls },
    Ints(&'a [i64]),
    Floats(&'a [f64]),
    /// Arithmetic, computed for all selected rows; what is not finite is evaluated again.
    Computed(Vec<f64>),
    Eval,
}

impl RowWriter<'_> {
    /// Appends the JSON object of `row`, number `at` of the selection. On an error nothing is
    /// appended.
    #[inline]
    pub fn write_json(
        &self,
        env: Env<'_>,
        at: usize,
        row: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let start = out.len();
        let done = if self.projection.direct {
            self.projection.write_direct(&self.ways, env, at, row, out)
        } else {
            self.projection.object(env, row).and_then(|o| json::write_object(out, &o))
        };
        if done.is_err() {
            out.truncate(start);
        }
        done
    }
}

impl Item {
    fn new(out: OutItem) -> Self {
        let mut key = Vec::new();
        if let OutItem::Field { name, .. } | OutItem::Const { name, .. } = &out {
            json::write_str(&mut key, name.as_bytes());
            key.push(b':');
        }
        let fast = match &out {
            OutItem::Field { expr: Expr::Col(col), .. } => Fast::Col(*col),
            OutItem::Field { expr, .. } => NumExpr::of(expr).map_or(Fast::No, Fast::Num),
            _ => Fast::No,
        };
        let key_len = key.len();
        key.resize(key_len.max(16), 0);
        Item { key: key.into(), key_len, out, fast }
    }

    /// The way this item is written for the rows of a frame, found once for all of them.
    fn way<'a>(&'a self, frame: &'a Frame<'a>, sel: &[u32]) -> Way<'a> {
        match (&self.fast, &self.out) {
            (Fast::Col(col), OutItem::Field { nulls, .. }) => match frame.col(*col) {
                Some(column) => match column.repr() {
                    Repr::Cells(cells) => {
                        Way::Cells { cells, column, nulls: *nulls }
                    }
                    Repr::Ints(ints) => Way::Ints(ints),
                    Repr::Floats(_) if column.is_doubles() => Way::Floats(&column.nums().vals),
                    _ => Way::Eval,
                },
                None => Way::Eval,
            },
            (Fast::Num(fast), _) if fast.applies_to(frame) => {
                Way::Computed(fast.column(frame, sel))
            }
            _ => Way::Eval,
        }
    }

    /// See [`Projection::columns`].
    fn column(&self, frame: &Frame<'_>, sel: &[u32]) -> Option<Column> {
        match (&self.fast, &self.out) {
            (Fast::Col(col), _) => frame.col(*col)?.gather(sel),
            (Fast::Num(fast), _) if fast.applies_to(frame) => {
                let values = fast.column(frame, sel);
                values.iter().all(|f| f.is_finite()).then(|| Column::floats(values))
            }
            (_, OutItem::Const { value, .. }) => {
                Column::constant(value.clone(), usize::MAX).gather(sel)
            }
            _ => None,
        }
    }

    #[inline(always)]
    fn put_key(&self, out: &mut Vec<u8>) {
        push_near(out, &self.key[..self.key_len], &self.key);
    }

    /// Appends `"name":value,` or nothing; the row is number `at` of the selection.
    #[inline]
    fn write(
        &self,
        way: &Way<'_>,
        env: Env<'_>,
        at: usize,
        row: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let found = match way {
            Way::Cells { cells, column, nulls } => {
                let cell = cells.get(row).copied().unwrap_or_default();
                use rekuiper_value::CellKind as K;
                let leave = match cell.kind() {
                    K::Missing => *nulls != OutNulls::Keep,
                    K::Null => *nulls == OutNulls::LeaveOut,
                    _ => false,
                };
                if leave {
                    return Ok(());
                }
                self.put_key(out);
                match cell.kind() {
                    K::Object | K::Array => column.write_json(row, out)?,
                    _ => write_cell(out, cell, column.bytes(), column.is_ints())?,
                }
                out.push(b',');
                return Ok(());
            }
            Way::Ints(ints) => match ints.get(row) {
                Some(i) => {
                    self.put_key(out);
                    number::write_i64(out, *i);
                    out.push(b',');
                    return Ok(());
                }
                None => None,
            },
            Way::Floats(floats) => floats.get(row).copied(),
            Way::Computed(values) => values.get(at).copied().filter(|f| f.is_finite()),
            Way::Eval => None,
        };
        if let Some(f) = found {
            self.put_key(out);
            number::write_json_f64(out, f);
            out.push(b',');
            return Ok(());
        }
        self.write_evaluated(env, row, out)
    }

    #[inline(never)]
    fn write_evaluated(&self, env: Env<'_>, row: usize, out: &mut Vec<u8>) -> Result<()> {
        let (value, nulls) = match &self.out {
            OutItem::Field { expr, nulls, .. } => (expr.eval(env, row)?, *nulls),
            OutItem::Const { value, .. } => (value.clone(), OutNulls::LeaveOut),
            _ => return Err(Error::new("internal: a spread item in a direct projection")),
        };
        if let Some(value) = nulls.apply_to(value) {
            self.put_key(out);
            json::write_value(out, &value)?;
            out.push(b',');
        }
        Ok(())
    }

    fn put(&self, env: Env<'_>, row: usize, members: &mut Object) -> Result<()> {
        match &self.out {
            OutItem::Field { name, expr, nulls } => {
                if let Some(value) = nulls.apply_to(expr.eval(env, row)?) {
                    members.insert(name.clone(), value);
                }
            }
            OutItem::Const { name, value } => {
                members.insert(name.clone(), value.clone());
            }
            OutItem::Row(parts) => {
                if let Value::Object(whole) = Expr::Row(parts.clone()).eval(env, row)? {
                    members.extend(whole.iter().map(|(k, v)| (k.clone(), v.clone())));
                }
            }
            OutItem::Spread { name, expr } => match expr.eval(env, row)? {
                Value::Object(o) => members.extend(o.iter().map(|(k, v)| (k.clone(), v.clone()))),
                Value::Missing => {}
                other => {
                    members.insert(name.clone(), other);
                }
            },
            OutItem::Members(expr) => match expr.eval(env, row)? {
                Value::Object(o) => members.extend(o.iter().map(|(k, v)| (k.clone(), v.clone()))),
                Value::Missing | Value::Null => {}
                other => {
                    return Err(Error::new(format!(
                        "expected an object whose members become columns, found a {}",
                        other.kind_name()
                    )));
                }
            },
        }
        Ok(())
    }
}

trait Apply {
    fn apply_to(self, value: Value) -> Option<Value>;
}

impl Apply for OutNulls {
    fn apply_to(self, value: Value) -> Option<Value> {
        match (self, &value) {
            (OutNulls::Keep, Value::Missing) => Some(Value::Null),
            (OutNulls::Keep, _) | (OutNulls::AsPresent, Value::Null) => Some(value),
            (_, Value::Missing | Value::Null) => None,
            _ => Some(value),
        }
    }
}
