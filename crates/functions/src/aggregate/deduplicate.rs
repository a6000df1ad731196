use rekuiper_value::{Result, Value};

use crate::arguments::at;
use crate::registry::cases;
use crate::seen::Seen;
use crate::{Arg, FunctionDef, Kind, Refuse};

/// The accumulator gets three arguments a row: the whole row, the value, and the flag.
pub const DEF: FunctionDef = FunctionDef {
    name: "deduplicate",
    family: "aggregate",
    args: &[
        Arg::any("value"),
        Arg::new("all", Refuse(1 | 2 | 4 | 16 | 64 | 128)),
    ],
    returns: "array or object",
    doc: "With true: an array of the whole rows whose value was not there before. With false: the \
          last row if its value is new, else null. 0 and -0, which print differently, are two \
          values.",
    ..FunctionDef::of(Kind::Aggregate {
        new: super::new::<Deduplicate>,
        star: false,
    })
};

#[derive(Default)]
struct Deduplicate {
    all: bool,
    seen: Seen,
    /// -0 was there: equal to 0 for every comparison, but not the same to look at.
    minus_zero: bool,
    /// The rows so far; with false the last one, if new.
    rows: Vec<Value>,
}

impl Deduplicate {
    fn is_new(&mut self, value: &Value) -> bool {
        match value {
            Value::Float(f) if *f == 0.0 && f.is_sign_negative() => {
                !std::mem::replace(&mut self.minus_zero, true)
            }
            other => self.seen.insert(other),
        }
    }
}

impl super::Fold for Deduplicate {
    fn add(&mut self, args: &[Value]) -> Result<()> {
        self.all = super::flag(args, 2);
        if !self.all {
            self.rows.clear();
        }
        if self.is_new(at(args, 1)) {
            self.rows.push(at(args, 0).clone());
        }
        Ok(())
    }

    fn finish(&self) -> Result<Value> {
        Ok(match self.all {
            true => Value::array(self.rows.clone()),
            false => self.rows.last().cloned().unwrap_or(Value::Null),
        })
    }

    fn save(&self) -> Value {
        Value::array(vec![
            Value::Bool(self.all),
            Value::array(self.seen.values().cloned().collect()),
            Value::array(self.rows.clone()),
            Value::Bool(self.minus_zero),
        ])
    }

    fn load(&mut self, state: &Value) {
        let items = super::saved_items(state);
        self.all = super::flag(&items, 0);
        self.seen = Seen::of(&super::saved_items(at(&items, 1)));
        self.rows = super::saved_items(at(&items, 2));
        self.minus_zero = super::flag(&items, 3);
    }
}

cases! {
    aggregate: r#"[[{"v":1},"x",true],[{"v":2},"y",true],[{"v":3},"x",true]]"#
        => r#"[{"v":1},{"v":2}]"#,
    r#"[[{"v":1},0.0,true],[{"v":2},-0.0,true],[{"v":3},0,true],[{"v":4},-0.0,true]]"#
        => r#"[{"v":1},{"v":2}]"#,
    r#"[[{"v":1},"x",false],[{"v":2},"y",false]]"# => r#"{"v":2}"#,
    r#"[[{"v":1},"x",false],[{"v":2},"x",false]]"# => "null",
    r#"[[{"v":1},null,true],[{"v":2},null,true]]"# => r#"[{"v":1}]"#, "[]" => "null",
}
