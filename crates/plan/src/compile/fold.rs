//! What has only literals in it is computed once, here.

use std::sync::LazyLock;

use jiff::tz::TimeZone;
use rekuiper_expr::{Env, Expr, Frame};
use rekuiper_functions::{Cx, NoHost, RowTimes};
use rekuiper_value::Value;

/// The expression, or the literal it comes to. What fails is left for the rows to fail on.
/// Comparisons stay: a null in them is more than false to a NOT around them.
pub(super) fn folded(e: Expr) -> Expr {
    static ZONE: LazyLock<TimeZone> = LazyLock::new(|| TimeZone::UTC);
    let literal = |e: &Expr| matches!(e, Expr::Lit(_));
    let foldable = match &e {
        Expr::Arith(_, p) | Expr::Bit(_, p) => literal(&p.0) && literal(&p.1),
        Expr::Neg(inner) => literal(inner),
        Expr::Call { def, args } => def.pure && args.iter().all(literal),
        _ => false,
    };
    if !foldable {
        return e;
    }
    let cx = Cx {
        now_ms: 0,
        rule_id: "",
        rule_start: 0,
        zone: &ZONE,
        row: RowTimes::default(),
        host: &NoHost,
    };
    let frame = Frame::default();
    match e.eval(
        Env {
            frame: &frame,
            cx: &cx,
        },
        0,
    ) {
        Ok(Value::Missing) => Expr::Lit(Value::Null),
        Ok(value) => Expr::Lit(value),
        Err(_) => e,
    }
}
