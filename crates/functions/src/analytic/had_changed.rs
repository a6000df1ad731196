use rekuiper_value::{Result, Str, Value};

use super::changes::Changes;
use crate::arguments::at;
use crate::registry::cases;
use crate::{Analytic, Arg, FunctionDef, Kind, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "had_changed",
    family: "analytic",
    args: &[
        Arg::new("ignore_null", Refuse(1 | 2 | 4 | 16)),
        Arg::any("value"),
    ],
    variadic: true,
    returns: "bool",
    doc: "Whether any of the values differs from its last one; `*` stands for all columns. With \
          true nulls are passed over, with false a null is a value like others. The first value \
          that is not null is a change.",
    ..FunctionDef::of(Kind::Analytic(|| Box::<HadChanged>::default()))
};

/// The state for calls with `*`: its arguments are (ignore_null, `[name, value]`…).
pub fn star() -> Box<dyn Analytic> {
    Box::new(HadChanged {
        star: true,
        ..HadChanged::default()
    })
}

#[derive(Default)]
struct HadChanged {
    changes: Changes,
    star: bool,
}

impl Analytic for HadChanged {
    fn push(&mut self, args: &[Value]) -> Result<Value> {
        let ignore_null = at(args, 0).as_bool().unwrap_or(false);
        let values = args.get(1..).unwrap_or(&[]);
        let mut any = false;
        if self.star {
            self.changes.pairs(values, ignore_null, |_, _| any = true);
        } else {
            for (at, value) in values.iter().enumerate() {
                let name = Str::from(at.to_string());
                any |= self.changes.note(&name, value, ignore_null);
            }
        }
        Ok(Value::Bool(any))
    }

    fn skip(&mut self, _args: &[Value]) -> Result<Value> {
        Ok(Value::Bool(false))
    }

    fn save(&self) -> Value {
        self.changes.save()
    }

    fn load(&mut self, state: &Value) {
        self.changes.load(state);
    }
}

cases! {
    series: "[[true,1],[true,null],[true,1],[true,2]]" => "[true,false,false,true]",
    "[[false,1],[false,null],[false,null],[false,1]]" => "[true,true,false,true]",
    "[[true,1,5],[true,1,6],[true,1,null],{\"skip\":[true,9,9]},[true,1,6]]" =>
        "[true,true,false,false,false]",
    "[[true,1],[true,\"1\"]]" => "[true,true]",
}

#[cfg(test)]
mod star_tests {
    #[test]
    fn columns_may_come_and_go() {
        let rows = r#"[[true,["a",1],["b",2]],[true,["a",1]],[true,["a",1],["b",3]]]"#;
        crate::testing::series_of(super::star, rows, "[true,false,true]");
        let rows = r#"[[false,["a",1],["b",2]],[false,["a",1]],[false,["a",1]]]"#;
        crate::testing::series_of(super::star, rows, "[true,true,false]");
    }
}
