//! `memory`: passes rows between rules of this process by topic, and keeps tables of the last row
//! of each key.

mod bus;
pub(crate) mod lookup;
mod sink;
mod source;

#[cfg(test)]
mod tests;

pub use bus::{MemoryBus, Message, MemoryRow, RowKind, Subscription};

use crate::ConnectorDef;

pub static CONNECTOR: ConnectorDef = ConnectorDef {
    name: "memory",
    source: Some(source::open),
    sink: Some(sink::open),
    lookup: Some(lookup::open),
};
