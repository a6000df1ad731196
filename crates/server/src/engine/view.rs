//! The catalog as planner and flow ask it.

use std::sync::Arc;

use rekuiper_connect::Props as ConnectProps;
use rekuiper_flow::{FlowCatalog, StreamSpec};
use rekuiper_formats::proto::{MessageType, Schema};
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
        info.schema = self.schema_of(&entry.def);
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
    /// The columns that SCHEMAID gives a stream without columns of its own.
    fn schema_of(&self, def: &StreamDef) -> Option<Vec<rekuiper_sql::Field>> {
        let id = def
            .options
            .schema_id
            .as_deref()
            .filter(|id| !id.is_empty())?;
        if def.fields.as_ref().is_some_and(|f| !f.is_empty()) {
            return None;
        }
        let columns = self.message(id).ok()?.columns();
        Some(
            columns
                .into_iter()
                .map(|(name, typ)| field(name, &typ))
                .collect(),
        )
    }
}

fn field(name: rekuiper_value::Str, typ: &rekuiper_value::ColType) -> rekuiper_sql::Field {
    rekuiper_sql::Field {
        name,
        typ: field_type(typ),
        default: None,
    }
}

fn field_type(typ: &rekuiper_value::ColType) -> rekuiper_sql::FieldType {
    use rekuiper_sql::FieldType as F;
    use rekuiper_value::ColType as C;
    match typ {
        C::Bigint => F::Bigint,
        C::Float => F::Float,
        C::String | C::Any => F::String,
        C::Datetime => F::Datetime,
        C::Boolean => F::Boolean,
        C::Bytea => F::Bytea,
        C::Array(element) => F::Array(Box::new(field_type(element))),
        C::Struct(members) => F::Struct(members.iter().map(|(n, t)| field(n.clone(), t)).collect()),
    }
}

impl FlowCatalog for CatalogView {
    fn stream_spec(&self, name: &str) -> Option<StreamSpec> {
        let entry = self.0.source(name)?;
        let props = self.source_props(&entry.def);
        Some(StreamSpec { def: entry.def.clone(), props })
    }

    fn source_props(&self, def: &StreamDef) -> ConnectProps {
        let spec = StreamSpec { def: Arc::new(def.clone()), props: ConnectProps::default() };
        let options = &def.options;
        let mut props = self.0.source_props(spec.typ(), options.conf_key.as_deref());
        if let Some(Ok(Value::Object(extra))) = options.extra.as_deref().map(serde_json::from_str) {
            props.extend(extra);
        }
        ConnectProps::new(props)
    }

    fn sink_props(&self, typ: &str, own: Option<&Props>) -> ConnectProps {
        ConnectProps::new(self.0.sink_props(typ, own.unwrap_or(&Props::new())))
    }

    fn message(&self, schema_id: &str) -> Result<MessageType, String> {
        let (schema, message) = schema_id
            .split_once('.')
            .ok_or_else(|| format!("schema id {schema_id:?} must be schema.Message"))?;
        let found = self
            .0
            .schema("protobuf", schema)
            .ok_or_else(|| format!("schema type protobuf id {schema} not found in registry"))?;
        let file = self.0.schema_file(&found);
        let folder = file
            .parent()
            .map(std::path::Path::to_path_buf)
            .unwrap_or_default();
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let own = folder.join(schema);
        let open = move |wanted: &str| {
            let inside = |f: &std::path::Path| {
                let path = f.join(wanted);
                let plain = !wanted.split('/').any(|part| part == ".." || part.is_empty());
                plain.then(|| std::fs::read_to_string(path).ok()).flatten()
            };
            inside(&folder).or_else(|| inside(&own))
        };
        let schema = Schema::compile(&name, open).map_err(|e| e.to_string())?;
        let plain = message.rsplit('.').next().unwrap_or(message);
        schema.message(plain).map_err(|e| e.to_string())
    }

    fn encryption_key(&self, name: &str) -> Option<Vec<u8>> {
        self.0.config.encryption_key(name)
    }

    fn as_plan(&self) -> &dyn PlanCatalog {
        self
    }
}
