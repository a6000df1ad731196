use rekuiper_value::{Result, Value};

use crate::arguments::at;
use crate::registry::cases;
use crate::{Analytic, Arg, FunctionDef, Kind};

pub const DEF: FunctionDef = FunctionDef {
    name: "latest",
    family: "analytic",
    args: &[Arg::any("value"), Arg::any("default").opt()],
    returns: "any",
    doc: "The last value that is not null, this row's included; the default until there is one.",
    ..FunctionDef::of(Kind::Analytic(|| Box::<Latest>::default()))
};

#[derive(Default)]
struct Latest(Value);

impl Latest {
    fn value(&self, args: &[Value]) -> Value {
        let value = if self.0.is_null() {
            at(args, 1)
        } else {
            &self.0
        };
        if value.is_null() {
            Value::Null
        } else {
            value.clone()
        }
    }
}

impl Analytic for Latest {
    fn push(&mut self, args: &[Value]) -> Result<Value> {
        if !at(args, 0).is_null() {
            self.0 = at(args, 0).clone();
        }
        Ok(self.value(args))
    }

    fn skip(&mut self, args: &[Value]) -> Result<Value> {
        Ok(self.value(args))
    }

    fn save(&self) -> Value {
        self.0.clone()
    }

    fn load(&mut self, state: &Value) {
        self.0 = state.clone();
    }
}

cases! {
    series: "[[null],[4],[null]]" => "[null,4,4]", "[[null,0],[4,0],[null,0]]" => "[0,4,4]",
    r#"[{"skip":[1]},[2],{"skip":[3]}]"# => "[null,2,2]",
}
