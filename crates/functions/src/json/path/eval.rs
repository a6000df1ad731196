//! A path over a value.
//!
//! Until a step may find several, a member or element that is not there is an error; afterwards it
//! is passed over, and the answer is an array.

use std::cell::Cell;
use std::cmp::Ordering;

use rekuiper_value::{Error, Result, Value, json::JSON_DEPTH_MAX};

use super::{Comparison, Condition, Operand, Path, Step};
use crate::arguments::compare_numbers;

/// Most items that one query looks at: `$..*..*` over a large document grows beyond all bounds.
const LOOKS_MAX: usize = 1_000_000;

struct Query<'a> {
    root: &'a Value,
    looks: Cell<usize>,
}

/// What the path finds in the document.
pub(crate) fn find(path: &Path, root: &Value) -> Result<Value> {
    let query = Query {
        root,
        looks: Cell::new(LOOKS_MAX),
    };
    match query.run(path, root)? {
        Found::One(value) => Ok(value.clone()),
        Found::Several(values) => Ok(Value::array(values.into_iter().cloned().collect())),
    }
}

enum Found<'a> {
    One(&'a Value),
    Several(Vec<&'a Value>),
}

impl<'a> Query<'a> {
    fn look(&self) -> Result<()> {
        match self.looks.get().checked_sub(1) {
            Some(left) => {
                self.looks.set(left);
                Ok(())
            }
            None => Err(Error::new(format!(
                "json path: looks at more than {LOOKS_MAX} items; make the path narrower"
            ))),
        }
    }

    fn run(&self, path: &Path, item: &'a Value) -> Result<Found<'a>> {
        let start = if path.from_item { item } else { self.root };
        let mut found = Found::One(start);
        for step in &path.steps {
            found = match found {
                Found::One(value) if matches!(step, Step::Member(_) | Step::Index(_)) => {
                    Found::One(single(step, value)?)
                }
                Found::One(value) => {
                    let mut out = Vec::new();
                    self.spread(step, value, &mut out)?;
                    Found::Several(out)
                }
                Found::Several(values) => {
                    let mut out = Vec::new();
                    for value in values {
                        self.spread(step, value, &mut out)?;
                    }
                    Found::Several(out)
                }
            };
        }
        Ok(found)
    }

    fn spread(&self, step: &Step, value: &'a Value, out: &mut Vec<&'a Value>) -> Result<()> {
        self.look()?;
        match step {
            Step::Member(_) | Step::Index(_) => out.extend(single(step, value).ok()),
            Step::Several(steps) => {
                for step in steps {
                    self.spread(step, value, out)?;
                }
            }
            Step::Slice(start, end, by) => slice(value, *start, *end, *by, out),
            Step::All => {
                for inner in children(value) {
                    self.look()?;
                    out.push(inner);
                }
            }
            Step::Descend => self.descend(value, 0, out)?,
            Step::Filter(condition) => {
                for inner in children(value) {
                    self.look()?;
                    if self.holds(condition, inner)? {
                        out.push(inner);
                    }
                }
            }
        }
        Ok(())
    }

    fn descend(&self, value: &'a Value, depth: usize, out: &mut Vec<&'a Value>) -> Result<()> {
        self.look()?;
        if depth > JSON_DEPTH_MAX {
            return Err(Error::new(format!(
                "json path: deeper than {JSON_DEPTH_MAX} levels"
            )));
        }
        out.push(value);
        for inner in children(value) {
            self.descend(inner, depth + 1, out)?;
        }
        Ok(())
    }

    fn holds(&self, condition: &Condition, item: &'a Value) -> Result<bool> {
        Ok(match condition {
            Condition::Or(a, b) => self.holds(a, item)? || self.holds(b, item)?,
            Condition::And(a, b) => self.holds(a, item)? && self.holds(b, item)?,
            Condition::Not(a) => !self.holds(a, item)?,
            Condition::Holds(operand) => match self.operand(operand, item)? {
                Some(Value::Array(items)) => !items.is_empty(),
                Some(Value::Bool(b)) => b,
                Some(value) => !value.is_null(),
                None => false,
            },
            Condition::Compare(a, comparison, b) => {
                match (self.operand(a, item)?, self.operand(b, item)?) {
                    (Some(a), Some(b)) => compare(&a, *comparison, &b),
                    _ => false,
                }
            }
        })
    }

    /// None where the path finds nothing for this item; running out of looks is an error.
    fn operand(&self, operand: &Operand, item: &'a Value) -> Result<Option<Value>> {
        let path = match operand {
            Operand::Value(value) => return Ok(Some(value.clone())),
            Operand::Path(path) => path,
        };
        match self.run(path, item) {
            Ok(Found::One(value)) => Ok(Some(value.clone())),
            Ok(Found::Several(values)) => {
                Ok(Some(Value::array(values.into_iter().cloned().collect())))
            }
            Err(_) if self.looks.get() > 0 => Ok(None),
            Err(e) => Err(e),
        }
    }
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => Box::new(std::iter::empty()),
    }
}

fn single<'a>(step: &Step, value: &'a Value) -> Result<&'a Value> {
    let (found, what) = match (step, value) {
        (Step::Member(name), Value::Object(members)) => (members.get(name), name.to_string()),
        (Step::Index(index), Value::Array(items)) => (
            usize::try_from(*index).ok().and_then(|i| items.get(i)),
            index.to_string(),
        ),
        (Step::Member(name), _) => (None, name.to_string()),
        (Step::Index(index), _) => (None, index.to_string()),
        _ => (None, String::new()),
    };
    found.ok_or_else(|| {
        Error::new(format!(
            "json path: [{what}] is not there in a {}",
            value.kind_name()
        ))
    })
}

/// Bounds beyond the ends are cut, negative ones count from the end.
fn slice<'a>(
    value: &'a Value,
    start: Option<i64>,
    end: Option<i64>,
    by: i64,
    out: &mut Vec<&'a Value>,
) {
    let Value::Array(items) = value else { return };
    let len = items.len() as i64;
    let bound = |b: i64| if b < 0 { b.saturating_add(len) } else { b };
    if by > 0 {
        let (start, end) = (
            bound(start.unwrap_or(0)).max(0),
            bound(end.unwrap_or(len)).min(len),
        );
        let mut at = start;
        while at < end {
            out.extend(items.get(at as usize));
            at = at.saturating_add(by);
        }
    } else {
        let mut at = start.map_or(len - 1, bound).min(len - 1);
        let end = end.map_or(-1, |e| bound(e).max(-1));
        while at > end && at >= 0 {
            out.extend(items.get(at as usize));
            at = at.saturating_add(by);
        }
    }
}

/// Numbers by value, text bytewise; kinds that do not go together are unequal and in no order.
fn compare(a: &Value, comparison: Comparison, b: &Value) -> bool {
    use Comparison::{Equal, Greater, GreaterEqual, Less, LessEqual, Unequal};
    let order = match (a, b) {
        _ if comparison == Equal => return a == b,
        _ if comparison == Unequal => return a != b,
        (a, b) if a.is_number() && b.is_number() => compare_numbers(a, b),
        (Value::Str(a), Value::Str(b)) => a.as_str().cmp(b.as_str()),
        _ => return false,
    };
    match comparison {
        Less => order == Ordering::Less,
        LessEqual => order != Ordering::Greater,
        Greater => order == Ordering::Greater,
        GreaterEqual => order != Ordering::Less,
        Equal | Unequal => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekuiper_value::json;

    fn query(doc: &str, path: &str) -> Result<String> {
        let doc = json::parse(doc.as_bytes())?;
        json::to_string(&find(&super::super::parse::path(path)?, &doc)?)
    }

    #[test]
    fn slices_and_names() {
        let doc = r#"{"a":[0,1,2,3],"b":{"x":1,"y":2}}"#;
        for (path, want) in [
            ("$.a[1:3]", "[1,2]"),
            ("$.a[2:]", "[2,3]"),
            ("$.a[:9]", "[0,1,2,3]"),
            ("$.a[-2:]", "[2,3]"),
            ("$.a[::2]", "[0,2]"),
            ("$.a[::-1]", "[3,2,1,0]"),
            ("$.b['x','y']", "[1,2]"),
            ("$.b.*", "[1,2]"),
            ("$.b[? @>1]", "[2]"),
            ("$.a[? @>=$.b.y]", "[2,3]"),
            ("$..x", "[1]"),
            ("$.a[? !(@==0) && @ != 3]", "[1,2]"),
        ] {
            assert_eq!(query(doc, path).unwrap(), want, "{path}");
        }
    }

    #[test]
    fn costly_paths_end() {
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        assert!(query(&deep, "$..*..*..*..*..*").is_err());
        let doc = format!("[{}]", vec!["[1,2,3,4,5,6,7,8,9]"; 200].join(","));
        assert!(query(&doc, "$..[? $..[? $..*]]").is_err());
    }
}
