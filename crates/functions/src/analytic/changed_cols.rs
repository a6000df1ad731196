use rekuiper_value::{Object, Result, Str, Value};

use super::changes::Changes;
use crate::arguments::{at, text};
use crate::registry::cases;
use crate::{Analytic, Arg, FunctionDef, Kind, Refuse};

/// The state gets (prefix, ignore_null, `[name, value]`…) and gives an object of the columns.
pub const DEF: FunctionDef = FunctionDef {
    name: "changed_cols",
    family: "analytic",
    args: &[
        Arg::new("prefix", Refuse::NOT_TEXT),
        Arg::any("ignore_null"),
        Arg::any("column"),
    ],
    variadic: true,
    returns: "columns",
    doc: "One column for each of the named ones that differs from its last value, named prefix + \
          name; `*` stands for all columns. With true nulls are passed over. Only in SELECT.",
    ..FunctionDef::of(Kind::MultiColumn(|| Box::<ChangedCols>::default()))
};

#[derive(Default)]
struct ChangedCols(Changes);

impl Analytic for ChangedCols {
    fn push(&mut self, args: &[Value]) -> Result<Value> {
        let prefix = text(DEF.name, args, 0)?;
        let ignore_null = at(args, 1).as_bool().unwrap_or(false);
        let mut columns = Object::new();
        self.0
            .pairs(args.get(2..).unwrap_or(&[]), ignore_null, |name, value| {
                let value = if value.is_null() {
                    Value::Null
                } else {
                    value.clone()
                };
                columns.insert(Str::from(format!("{prefix}{name}")), value);
            });
        Ok(Value::object(columns))
    }

    fn skip(&mut self, _args: &[Value]) -> Result<Value> {
        Ok(Value::object(Object::new()))
    }

    fn save(&self) -> Value {
        self.0.save()
    }

    fn load(&mut self, state: &Value) {
        self.0.load(state);
    }
}

cases! {
    series:
    r#"[["c_",true,["t",20],["h",5]],["c_",true,["t",20],["h",6]],["c_",true,["t",null],["h",6]]]"#
        => r#"[{"c_h":5,"c_t":20},{"c_h":6},{}]"#,
    r#"[["c_",false,["t",20],["h",5]],["c_",false,["t",20],["h",null]],["c_",false,["t",20]]]"#
        => r#"[{"c_h":5,"c_t":20},{"c_h":null},{}]"#,
    r#"[["p",true,["",1],["",2]],["p",true,["",1],["",2]],["p",true,["",1],["",3]]]"#
        => r#"[{"p":2},{},{"p":3}]"#,
    r#"[[5,true,["t",1]],{"skip":["c",true,["t",1]]}]"# => r#"["error",{}]"#,
}
