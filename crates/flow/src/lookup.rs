//! Lookup tables for operators: asks the connector, waiting where it has to.

use std::sync::Arc;

use rekuiper_connect::Lookup;
use rekuiper_ops::lookup::LookupTable;
use rekuiper_rt::task;
use rekuiper_value::{Error, Object, Result, Str, Value};

/// A connector's table as operators see it.
pub struct Table(pub Arc<dyn Lookup>);

impl LookupTable for Table {
    fn find(&self, keys: &[(Str, Value)]) -> Result<Vec<Arc<Object>>> {
        if let Some(rows) = self.0.find_now(keys) {
            return Ok(rows);
        }
        match task::wait_for(self.0.find(keys)) {
            Some(found) => found.map_err(|e| Error::new(e.text)),
            None => Err(Error::new("this lookup table needs a runtime with several threads")),
        }
    }
}
