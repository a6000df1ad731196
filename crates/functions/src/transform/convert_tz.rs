//! `convert_tz`: the same point in time in another zone, by its IANA name.

use rekuiper_value::time;
use rekuiper_value::{Result, Value};

use crate::arguments::text;
use crate::operand::instant;
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "convert_tz",
    family: "transform",
    args: &[
        Arg::new("time", Refuse::NOT_TIME),
        Arg::new("zone", Refuse::NOT_TEXT),
    ],
    returns: "datetime",
    doc: "the same point in time in another zone, by its IANA name.",
    example: (
        r#"convert_tz(cast(0, "datetime"), "Asia/Tokyo")"#,
        r#""1970-01-01T09:00:00+09:00""#,
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let t = instant(DEF.name, args, 0, cx)?;
    let zone = match text(DEF.name, args, 1)?.as_str() {
        "Local" => cx.zone.clone(),
        name => time::zone_by_name(name)?,
    };
    Ok(Value::Time(t.with_time_zone(zone).into()))
}

crate::registry::cases! {
    scalar:
    r#"["2020-07-01T08:00:00+08:00","Europe/Paris"]"# => r#""2020-07-01T02:00:00+02:00""#,
    r#"[0,""]"# => r#""1970-01-01T00:00:00Z""#,
    r#"[0,"No/Where"]"# => "error",
    r#"[null,"UTC"]"# => "null",
}
