//! Functions that make rows or columns, and the number of a row in its emission. The plan gives
//! them steps of their own; here are what they are called with and what they make.

use crate::registry::functions;

functions! { extract, row_number, unnest }

pub use extract::columns as extract_columns;
pub use unnest::{Unnested, rows as unnest_rows};
