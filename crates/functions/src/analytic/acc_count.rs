use rekuiper_value::{Result, Value};

use super::accumulate::{Running, State, check, new};
use crate::registry::cases;
use crate::{Arg, FunctionDef, Kind};

pub const DEF: FunctionDef = FunctionDef {
    name: "acc_count",
    family: "analytic",
    args: &[
        Arg::any("value"),
        Arg::any("begin").opt(),
        Arg::any("reset").opt(),
    ],
    check: Some(check),
    returns: "int",
    doc: "How many values of all rows so far are not null. With both conditions: from the row \
          where begin holds up to the row where reset holds.",
    ..FunctionDef::of(Kind::Analytic(new::<Count>))
};

struct Count;

impl Running for Count {
    const NAME: &'static str = DEF.name;

    fn next(state: &mut State, value: &Value) -> Result<()> {
        state.count += i64::from(!value.is_null());
        Ok(())
    }

    fn value(state: &State) -> Value {
        Value::Int(state.count)
    }
}

cases! {
    series: "[[1],[null],[\"x\"]]" => "[1,1,2]",
    "[[2,true,false],[5,false,true],[9,true,false]]" => "[1,2,1]",
}
