use rekuiper_value::{Result, Str, Value};

use super::changes::Changes;
use crate::arguments::at;
use crate::registry::cases;
use crate::{Analytic, Arg, FunctionDef, Kind, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "changed_col",
    family: "analytic",
    args: &[
        Arg::new("ignore_null", Refuse(1 | 2 | 4 | 16)),
        Arg::any("value"),
    ],
    returns: "any",
    doc: "The value if it differs from the last one, else null. With true nulls are passed over.",
    ..FunctionDef::of(Kind::Analytic(|| Box::<ChangedCol>::default()))
};

#[derive(Default)]
struct ChangedCol(Changes);

impl Analytic for ChangedCol {
    fn push(&mut self, args: &[Value]) -> Result<Value> {
        let ignore_null = at(args, 0).as_bool().unwrap_or(false);
        let value = at(args, 1);
        let changed = self.0.note(&Str::new(), value, ignore_null) && !value.is_null();
        Ok(if changed { value.clone() } else { Value::Null })
    }

    fn skip(&mut self, _args: &[Value]) -> Result<Value> {
        Ok(Value::Null)
    }

    fn save(&self) -> Value {
        self.0.save()
    }

    fn load(&mut self, state: &Value) {
        self.0.load(state);
    }
}

cases! {
    series: "[[true,1],[true,1],[true,null],[true,1],[true,2]]" => "[1,null,null,null,2]",
    "[[false,1],[false,null],[false,1]]" => "[1,null,1]",
    r#"[[true,{"k":1}],[true,{"k":1}],{"skip":[true,5]},[true,{"k":2}]]"#
        => r#"[{"k":1},null,null,{"k":2}]"#,
}
