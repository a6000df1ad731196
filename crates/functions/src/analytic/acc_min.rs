use rekuiper_value::{Result, Value};

use super::accumulate::{Running, State, check, new, number};
use crate::registry::cases;
use crate::{Arg, FunctionDef, Kind};

pub const DEF: FunctionDef = FunctionDef {
    name: "acc_min",
    family: "analytic",
    args: &[
        Arg::any("number"),
        Arg::any("begin").opt(),
        Arg::any("reset").opt(),
    ],
    check: Some(check),
    returns: "float",
    doc: "The least number of all rows so far. A row with null or another kind is lost. With \
          both conditions: from the row where begin holds up to the row where reset holds.",
    ..FunctionDef::of(Kind::Analytic(new::<Min>))
};

struct Min;

impl Running for Min {
    const NAME: &'static str = DEF.name;

    fn next(state: &mut State, value: &Value) -> Result<()> {
        let number = number::<Self>(value)?;
        if state.count == 0 || number < state.total {
            state.total = number;
        }
        state.count += 1;
        Ok(())
    }

    fn value(state: &State) -> Value {
        Value::Float(state.total)
    }
}

cases! {
    series: "[[5],[null],[7],[2]]" => "[5,\"error\",5,2]",
    "[[2,true,true],[5,false,false],[9,true,false]]" => "[2,0,9]",
}
