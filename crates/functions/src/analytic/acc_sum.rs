use rekuiper_value::{Result, Value};

use super::accumulate::{Running, State, check, new, number};
use crate::registry::cases;
use crate::{Arg, FunctionDef, Kind};

pub const DEF: FunctionDef = FunctionDef {
    name: "acc_sum",
    family: "analytic",
    args: &[
        Arg::any("number"),
        Arg::any("begin").opt(),
        Arg::any("reset").opt(),
    ],
    check: Some(check),
    returns: "float",
    doc: "The sum of all rows so far. Nulls leave it as it is, other kinds lose the row. With \
          both conditions: from the row where begin holds up to the row where reset holds.",
    ..FunctionDef::of(Kind::Analytic(new::<Sum>))
};

struct Sum;

impl Running for Sum {
    const NAME: &'static str = DEF.name;

    fn next(state: &mut State, value: &Value) -> Result<()> {
        if !value.is_null() {
            state.total += number::<Self>(value)?;
            state.count += 1;
        }
        Ok(())
    }

    fn value(state: &State) -> Value {
        Value::Float(state.total)
    }
}

cases! {
    series: "[[1],[null],[3],[\"x\"],[4]]" => "[1,1,4,\"error\",8]",
    "[[2,true,false],[-3,false,true],[1,false,false],[8,true,false]]" => "[2,-1,0,8]",
    r#"[{"skip":[1]},[2],{"skip":[5]}]"# => "[null,2,2]",
}
