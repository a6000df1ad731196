//! Message types of the schema registry, as streams name them: `SCHEMAID="schema.Message"`.

use rekuiper_formats::proto::{MessageType, Schema};
use rekuiper_sql::{Field, FieldType, StreamDef};
use rekuiper_value::{ColType, Str};

use super::Catalog;

impl Catalog {
    /// Compiles the schema, with what it imports from its own folder and the common ones.
    pub fn message(&self, schema_id: &str) -> Result<MessageType, String> {
        let (schema, message) = schema_id
            .split_once('.')
            .ok_or_else(|| format!("schema id {schema_id:?} must be schema.Message"))?;
        let found = self
            .schema("protobuf", schema)
            .ok_or_else(|| format!("schema type protobuf id {schema} not found in registry"))?;
        let file = self.schema_file(&found);
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
        let dirs = &self.config.dirs;
        let common = [&dirs.data, &dirs.etc].map(|d| d.join("schemas/protobuf"));
        let open = move |wanted: &str| {
            let inside = |f: &std::path::Path| {
                let path = f.join(wanted);
                let plain = !wanted.split('/').any(|part| part == ".." || part.is_empty());
                plain.then(|| std::fs::read_to_string(path).ok()).flatten()
            };
            let near = inside(&folder).or_else(|| inside(&own));
            near.or_else(|| common.iter().find_map(|f| inside(f)))
        };
        let schema = Schema::compile(&name, open).map_err(|e| e.to_string())?;
        let plain = message.rsplit('.').next().unwrap_or(message);
        schema.message(plain).map_err(|e| e.to_string())
    }

    /// The full name of the message that SCHEMAID names, and the columns it gives a stream without
    /// columns of its own.
    pub fn columns_of(&self, def: &StreamDef) -> Option<Result<(String, Vec<Field>), String>> {
        let id = def.options.schema_id.as_deref().filter(|id| !id.is_empty())?;
        let format = def.options.format.as_deref().unwrap_or_default();
        let own = def.fields.as_ref().is_some_and(|f| !f.is_empty());
        if own || !format.eq_ignore_ascii_case("protobuf") {
            return None;
        }
        Some(self.message(id).map(|message| {
            let columns = message.columns().into_iter().map(|(name, t)| field(name, &t));
            (message.full_name().to_owned(), columns.collect())
        }))
    }
}

fn field(name: Str, typ: &ColType) -> Field {
    Field { name, typ: field_type(typ), default: None }
}

fn field_type(typ: &ColType) -> FieldType {
    use ColType as C;
    use FieldType as F;
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
