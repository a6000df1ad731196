use rekuiper_value::{Result, Value};

use super::accumulate::{Running, State, check, new, number};
use crate::registry::cases;
use crate::{Arg, FunctionDef, Kind};

pub const DEF: FunctionDef = FunctionDef {
    name: "acc_max",
    family: "analytic",
    args: &[
        Arg::any("number"),
        Arg::any("begin").opt(),
        Arg::any("reset").opt(),
    ],
    check: Some(check),
    returns: "float",
    doc: "The greatest number of all rows so far. A row with null or another kind is lost. With \
          both conditions: from the row where begin holds up to the row where reset holds.",
    ..FunctionDef::of(Kind::Analytic(new::<Max>))
};

struct Max;

impl Running for Max {
    const NAME: &'static str = DEF.name;

    fn next(state: &mut State, value: &Value) -> Result<()> {
        let number = number::<Self>(value)?;
        if state.count == 0 || number > state.total {
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
    series: "[[-5],[null],[-7],[\"x\"],[2]]" => "[-5,\"error\",-5,\"error\",2]",
    "[[2,false,false],[5,true,false],[9,false,true],[1,true,false]]" => "[0,5,9,1]",
    r#"[{"skip":[1]},[2],{"skip":[5]}]"# => "[null,2,2]",
}
