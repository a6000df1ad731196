//! What the engine is told of a rule, and what it asks the catalog.

use std::sync::Arc;

use rekuiper_connect::Props;
use rekuiper_plan::RuleOptions;
use rekuiper_sql::ast::StreamDef;

/// A rule to be run.
#[derive(Clone, Debug, Default)]
pub struct RuleSpec {
    pub id: String,
    pub sql: String,
    /// A graph rule instead of SQL.
    pub graph: Option<serde_json::Value>,
    pub actions: Vec<ActionSpec>,
    /// What changes plans.
    pub plan: RuleOptions,
    /// Between two saves of the state, milliseconds; only with qos above 0.
    pub checkpoint_ms: i64,
    /// Errors of rows go to the sinks as well.
    pub send_error: bool,
    pub debug: bool,
}

/// One action: the sink's type and its effective properties (resourceId and connectionSelector
/// already resolved).
#[derive(Clone, Debug)]
pub struct ActionSpec {
    pub typ: String,
    pub props: Props,
}

/// A stream or table as the engine needs it.
#[derive(Clone)]
pub struct StreamSpec {
    pub def: Arc<StreamDef>,
    /// Effective properties of its source.
    pub props: Props,
}

impl StreamSpec {
    /// TYPE, or what stands when it is not given: `mqtt` for streams, `file` for tables.
    pub fn typ(&self) -> &str {
        let default = match self.def.kind {
            rekuiper_sql::ast::StreamKind::Table => "file",
            rekuiper_sql::ast::StreamKind::Stream => "mqtt",
        };
        self.def.options.type_.as_deref().filter(|t| !t.is_empty()).unwrap_or(default)
    }
}

/// What the engine asks of whoever keeps the definitions.
pub trait FlowCatalog: rekuiper_plan::Catalog + Send + Sync {
    /// The stream with the effective properties of its source (configuration key, connection,
    /// EXTRA resolved).
    fn stream_spec(&self, name: &str) -> Option<StreamSpec>;

    /// Effective properties of a source that a graph defines by itself.
    fn source_props(&self, def: &StreamDef) -> Props {
        let _ = def;
        Props::default()
    }

    /// Effective properties of a sink node of a graph.
    fn sink_props(
        &self,
        typ: &str,
        own: Option<&serde_json::Map<String, serde_json::Value>>,
    ) -> Props {
        let _ = typ;
        Props::new(own.cloned().unwrap_or_default())
    }

    /// A protobuf message type, `schema.Message`.
    fn message(&self, schema_id: &str) -> Result<rekuiper_formats::proto::MessageType, String> {
        Err(format!("schema {schema_id} is not known"))
    }

    /// The key of `encryption: aes` or `encryption: default`.
    fn encryption_key(&self, name: &str) -> Option<Vec<u8>> {
        let _ = name;
        None
    }

    /// Whether names of columns match in any case.
    fn ignore_case(&self) -> bool {
        false
    }

    /// For the planner.
    fn as_plan(&self) -> &dyn rekuiper_plan::Catalog;
}
