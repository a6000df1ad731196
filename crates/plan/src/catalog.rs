//! What the plan asks about streams and functions.

use std::sync::Arc;

use rekuiper_functions::FunctionDef;
use rekuiper_sql::{Field, StreamDef};

/// The definitions that a rule may name.
pub trait Catalog {
    /// A stream or table by its exact name.
    fn stream(&self, name: &str) -> Option<StreamInfo>;

    /// A function that does not come with the engine (plugin, script, external service), by its
    /// name in lower case.
    fn external_function(&self, name: &str) -> Option<&'static FunctionDef> {
        let _ = name;
        None
    }

    /// Whether there is a source of this type, for the nodes of graph rules.
    fn is_source_type(&self, kind: &str) -> bool {
        let _ = kind;
        true
    }

    /// Whether there is a sink of this type.
    fn is_sink_type(&self, kind: &str) -> bool {
        let _ = kind;
        true
    }
}

/// A stream or table as the catalog knows it.
#[derive(Clone)]
pub struct StreamInfo {
    pub def: Arc<StreamDef>,
    /// Columns from the schema that SCHEMAID names; they stand for those of the statement.
    pub schema: Option<Vec<Field>>,
    /// Rows that a scan table keeps where RETAIN_SIZE is not given: depends on the connector.
    pub default_retain: usize,
    /// Whether a lookup table of this TYPE can be asked (else such a rule is refused).
    pub can_lookup: bool,
    /// Names of columns match in any case.
    pub any_case: bool,
}

impl StreamInfo {
    /// A definition as it stands in the catalog, without a schema of its own.
    pub fn new(def: Arc<StreamDef>) -> Self {
        let default_retain = if def.options.type_.as_deref() == Some("file") {
            9999
        } else {
            1
        };
        StreamInfo {
            def,
            schema: None,
            default_retain,
            can_lookup: true,
            any_case: false,
        }
    }

    /// The columns, where they are declared.
    pub fn fields(&self) -> Option<&[Field]> {
        self.schema.as_deref().or(self.def.fields.as_deref())
    }
}
