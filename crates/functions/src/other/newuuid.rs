use std::sync::atomic::{AtomicU64, Ordering};

use rekuiper_value::{Result, Value};

use crate::{Cx, FunctionDef};

/// 100 ns ticks from the start of the Gregorian calendar to 1970.
const TICKS_TO_1970: u64 = 0x01b2_1dd2_1381_4000;

pub const DEF: FunctionDef = FunctionDef {
    name: "newuuid",
    family: "other",
    pure: false,
    returns: "text",
    doc: "A new UUID (version 1: time and random node).",
    ..FunctionDef::scalar(eval)
};

fn eval(_args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    /// Tells apart the ids of one millisecond.
    static TICK: AtomicU64 = AtomicU64::new(0);
    let tick = TICK.fetch_add(1, Ordering::Relaxed) % 10_000;
    let time = (cx.now_ms as u64)
        .wrapping_mul(10_000)
        .wrapping_add(TICKS_TO_1970 + tick);
    let random = cx.host.random();
    Ok(Value::from(format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        time & 0xffff_ffff,
        (time >> 32) & 0xffff,
        0x1000 | ((time >> 48) & 0x0fff),
        0x8000 | ((random >> 48) & 0x3fff),
        // the multicast bit says that the node is no hardware address
        0x0100_0000_0000 | (random & 0xffff_ffff_ffff),
    )))
}

#[cfg(test)]
mod tests {
    use crate::testing;

    #[test]
    fn of_version_1_and_never_twice() {
        let new = || {
            let value = super::DEF.call(&[], &testing::cx()).unwrap();
            value.as_str().unwrap().to_owned()
        };
        let ids: std::collections::HashSet<String> = (0..5_000).map(|_| new()).collect();
        assert_eq!(ids.len(), 5_000);
        let id = new();
        let lens: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!(lens, [8, 4, 4, 4, 12]);
        assert_eq!(&id[14..15], "1");
    }
}
