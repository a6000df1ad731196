//! Values, objects, batches of columns, and the casts and text forms that eKuiper gives them.
//!
//! Knows nothing of IO, tasks, SQL, connectors or the wall clock: everything here is a pure
//! function of its arguments. Every other crate speaks in these types.

pub mod batch;
pub mod cast;
pub mod cell;
pub mod column;
pub mod json;
pub mod number;
pub mod state;
pub mod text;
pub mod time;
mod types;
mod value;

pub use batch::{Batch, MsgMeta};
pub use cell::{Cell, CellKind};
pub use column::Column;
pub use types::{ColType, Field};
pub use value::{Error, Object, Result, Str, Value};
