//! SELECT: makes result rows of what passed the operators, as JSON text straight into a sink's
//! buffer where the select list allows it, or as objects.

use rekuiper_expr::{Env, Expr, NumExpr, Part};
use rekuiper_plan::physical::{OutItem, OutNulls, ProjectionPlan};
use rekuiper_value::{Error, Object, Result, Str, Value, json, number};

/// See the module's doc.
pub struct Projection {
    items: Vec<Item>,
    /// No item can add a name that another one has: rows may be written item by item.
    direct: bool,
    pub uses_row_context: bool,
}

struct Item {
    /// `"name":`, ready to be copied.
    key: Box<[u8]>,
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
        let start = out.len();
        let done = if self.direct {
            self.write_direct(env, row, out)
        } else {
            self.object(env, row).and_then(|o| json::write_object(out, &o))
        };
        if done.is_err() {
            out.truncate(start);
        }
        done
    }

    fn write_direct(&self, env: Env<'_>, row: usize, out: &mut Vec<u8>) -> Result<()> {
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
        for item in &self.items {
            item.write(env, row, out)?;
        }
        if out.len() > start {
            out.pop(); // the comma after the last one
        }
        out.push(b'}');
        Ok(())
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
        Item { key: key.into(), out, fast }
    }

    /// Appends `"name":value,` or nothing.
    #[inline]
    fn write(&self, env: Env<'_>, row: usize, out: &mut Vec<u8>) -> Result<()> {
        match (&self.fast, &self.out) {
            (Fast::Col(col), OutItem::Field { nulls, .. }) => {
                if let Some(column) = env.frame.col(*col)
                    && let Some((cells, bytes)) = column.as_cells()
                {
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
                    out.extend_from_slice(&self.key);
                    rekuiper_value::column::write_cell(out, cell, bytes, column.is_ints())?;
                    out.push(b',');
                    return Ok(());
                }
            }
            (Fast::Num(fast), _) if fast.applies(env) => {
                if let Some(f) = fast.at(env, row) {
                    if !f.is_finite() {
                        return json::write_value(out, &Value::Float(f));
                    }
                    out.extend_from_slice(&self.key);
                    number::write_json_f64(out, f);
                    out.push(b',');
                    return Ok(());
                }
            }
            _ => {}
        }
        let (value, nulls) = match &self.out {
            OutItem::Field { expr, nulls, .. } => (expr.eval(env, row)?, *nulls),
            OutItem::Const { value, .. } => (value.clone(), OutNulls::LeaveOut),
            _ => return Err(Error::new("internal: a spread item in a direct projection")),
        };
        if let Some(value) = nulls.apply_to(value) {
            out.extend_from_slice(&self.key);
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
