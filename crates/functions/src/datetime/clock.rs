//! What now() and its siblings share: the server's clock, with fraction digits if wanted.

use jiff::Timestamp;
use rekuiper_value::{Error, Result, Value};

use crate::arguments::{at, whole_of};
use crate::{ArgKind, Cx};

/// The time of the flow's clock after a pattern, with the fraction digits of argument 1.
pub(super) fn show(name: &str, args: &[Value], cx: &Cx<'_>, pattern: &str) -> Result<Value> {
    let digits = if args.is_empty() {
        Some(0)
    } else {
        whole_of(at(args, 0))
    };
    let digits = digits
        .and_then(|d| usize::try_from(d).ok())
        .filter(|d| *d <= 6);
    let digits = digits.ok_or_else(|| Error::new(format!("{name}: {}", wrong())))?;
    let now = Timestamp::from_millisecond(cx.now_ms)
        .map_err(|e| Error::new(format!("{name}: the server's clock: {e}")))?
        .to_zoned_datetime(cx.zone.clone());
    let mut text = now.strftime(pattern).to_string();
    if digits > 0 {
        let nanos = format!("{:09}", now.subsec_nanosecond());
        text.push('.');
        text.push_str(&nanos[..digits]);
    }
    Ok(Value::from(text))
}

pub(super) fn check(args: &[ArgKind]) -> std::result::Result<(), String> {
    match args.first() {
        Some(ArgKind::Literal(Value::Int(digits))) if !(0..=6).contains(digits) => Err(wrong()),
        _ => Ok(()),
    }
}

fn wrong() -> String {
    "the fraction digits go from 0 to 6".to_owned()
}
