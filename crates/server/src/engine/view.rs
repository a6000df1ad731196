//! The catalog as planner and flow ask it.

use std::sync::Arc;

use rekuiper_connect::Props as ConnectProps;
use rekuiper_flow::{FlowCatalog, StreamSpec};
use rekuiper_formats::proto::MessageType;
use rekuiper_functions::FunctionDef;
use rekuiper_plan::{Catalog as PlanCatalog, StreamInfo};
use rekuiper_sql::StreamDef;
use serde_json::Value;

use super::Props;
use crate::catalog::Catalog;
use crate::external::Externals;

/// See the module's doc.
#[derive(Clone)]
pub(super) struct CatalogView(pub(super) Arc<Catalog>, pub(super) Arc<Externals>);

impl PlanCatalog for CatalogView {
    fn stream(&self, name: &str) -> Option<StreamInfo> {
        let entry = self.0.source(name)?;
        let mut info = StreamInfo::new(entry.def.clone());
        info.any_case = self.ignore_case();
        info.schema = self.0.columns_of(&entry.def).and_then(Result::ok).map(|(_, all)| all);
        Some(info)
    }

    fn external_function(&self, name: &str) -> Option<&'static FunctionDef> {
        self.1.function(name)
    }

    fn is_source_type(&self, typ: &str) -> bool {
        rekuiper_connect::find(typ).is_some_and(|c| c.source.is_some() || c.lookup.is_some())
    }

    fn is_sink_type(&self, typ: &str) -> bool {
        rekuiper_connect::find(typ).is_some_and(|c| c.sink.is_some())
    }
}

impl CatalogView {
    /// What holds for a source, as its connector gets it.
    pub(super) fn props_of(&self, def: &StreamDef) -> Props {
        let spec = StreamSpec { def: Arc::new(def.clone()), props: ConnectProps::default() };
        let options = &def.options;
        let extra = match options.extra.as_deref().map(serde_json::from_str) {
            Some(Ok(Value::Object(extra))) => extra,
            _ => Props::new(),
        };
        let mut props = self.0.source_props(spec.typ(), options.conf_key.as_deref(), extra);
        let format = options.format.as_deref().map(str::to_lowercase);
        for (key, own) in [("format", &format), ("delimiter", &options.delimiter)] {
            if let Some(own) = own.as_deref().filter(|own| !own.is_empty()) {
                props.insert(key.into(), own.into());
            }
        }
        props
    }
}

impl FlowCatalog for CatalogView {
    fn stream_spec(&self, name: &str) -> Option<StreamSpec> {
        let entry = self.0.source(name)?;
        let props = self.source_props(&entry.def);
        Some(StreamSpec { def: entry.def.clone(), props })
    }

    fn source_props(&self, def: &StreamDef) -> ConnectProps {
        ConnectProps::new(self.props_of(def))
    }

    fn sink_props(&self, typ: &str, own: Option<&Props>) -> ConnectProps {
        ConnectProps::new(self.0.sink_props(typ, own.unwrap_or(&Props::new())))
    }

    fn message(&self, schema_id: &str) -> Result<MessageType, String> {
        self.0.message(schema_id)
    }

    fn encryption_key(&self, name: &str) -> Option<Vec<u8>> {
        self.0.config.encryption_key(name)
    }

    fn ignore_case(&self) -> bool {
        self.0.config.basic.ignore_case
    }

    fn as_plan(&self) -> &dyn PlanCatalog {
        self
    }
}
