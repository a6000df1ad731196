use rekuiper_value::{Object, Result, Value};

use crate::arguments::at;
use crate::registry::cases;
use crate::{Arg, FunctionDef, Kind};

pub const DEF: FunctionDef = FunctionDef {
    name: "merge_agg",
    family: "aggregate",
    args: &[Arg::any("object")],
    returns: "object",
    doc: "One object of the members of all; of equal names the last row's stays. `merge_agg(*)` \
          merges the whole rows. Values that are no objects are passed over; none gives null.",
    ..FunctionDef::of(Kind::Aggregate {
        new: super::new::<Merge>,
        star: true,
    })
};

#[derive(Default)]
struct Merge(Option<Object>);

impl super::Fold for Merge {
    fn add(&mut self, args: &[Value]) -> Result<()> {
        if let Value::Object(members) = at(args, 0) {
            let present = members.iter().filter(|(_, v)| !v.is_missing());
            self.0
                .get_or_insert_default()
                .extend(present.map(|(k, v)| (k.clone(), v.clone())));
        }
        Ok(())
    }

    fn finish(&self) -> Result<Value> {
        Ok(self.0.clone().map_or(Value::Null, Value::object))
    }

    fn save(&self) -> Value {
        self.0.clone().map_or(Value::Null, Value::object)
    }

    fn load(&mut self, state: &Value) {
        self.0 = state.as_object().map(|o| o.as_ref().clone());
    }
}

cases! {
    aggregate: r#"[[{"a":1,"b":2}],[7],[{"b":5}]]"# => r#"{"a":1,"b":5}"#, "[[null]]" => "null",
    "[]" => "null",
}
