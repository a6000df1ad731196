use rekuiper_value::{Result, Value};

use super::accumulate::{Running, State, check, new, number};
use crate::registry::cases;
use crate::{Arg, FunctionDef, Kind};

pub const DEF: FunctionDef = FunctionDef {
    name: "acc_avg",
    family: "analytic",
    args: &[
        Arg::any("number"),
        Arg::any("begin").opt(),
        Arg::any("reset").opt(),
    ],
    check: Some(check),
    returns: "float",
    doc: "The mean of all rows so far. A row with null or another kind is lost. With both \
          conditions: from the row where begin holds up to the row where reset holds.",
    ..FunctionDef::of(Kind::Analytic(new::<Avg>))
};

struct Avg;

impl Running for Avg {
    const NAME: &'static str = DEF.name;

    fn next(state: &mut State, value: &Value) -> Result<()> {
        state.total += number::<Self>(value)?;
        state.count += 1;
        Ok(())
    }

    fn value(state: &State) -> Value {
        Value::Float(if state.count == 0 {
            0.0
        } else {
            state.total / state.count as f64
        })
    }
}

cases! {
    series: "[[1],[null],[3],[3]]" => "[1,\"error\",2,2.3333333333333335]",
    "[[2,true,false],[4,false,true],[8,true,false]]" => "[2,3,8]",
    r#"[[2],{"skip":[5]}]"# => "[2,2]",
}
