//! FORMAT protobuf: message types compiled from `.proto` texts while the server runs.
//!
//! Knows no files: whoever compiles hands over a function that gives a file's text by name.

mod read;
mod service;
mod write;

use prost_reflect::{DescriptorPool, FieldDescriptor, Kind, MessageDescriptor};
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};
use rekuiper_value::{ColType, Error, Object, Result, Str};

pub use service::{HttpRule, Method};

/// Deepest structs that a schema is unfolded to; a message that contains itself goes on for ever.
const STRUCT_DEPTH_MAX: usize = 16;

/// A compiled schema with all it imports.
#[derive(Clone, Debug)]
pub struct Schema {
    pool: DescriptorPool,
    name: String,
}

/// One message type: what SCHEMAID names.
#[derive(Clone, Debug)]
pub struct MessageType(MessageDescriptor);

struct Sources<F>(F);

impl<F: Fn(&str) -> Option<String> + Send + Sync> FileResolver for Sources<F> {
    fn open_file(&self, name: &str) -> std::result::Result<File, protox::Error> {
        let bundled = || service::bundled(name).map(str::to_owned);
        match (self.0)(name).or_else(bundled) {
            Some(text) => File::from_source(name, &text),
            None => Err(protox::Error::file_not_found(name)),
        }
    }
}

impl Schema {
    /// Compiles `name` (as an import would write it); `open` gives the text of a file by name.
    pub fn compile<F>(name: &str, open: F) -> Result<Schema>
    where
        F: Fn(&str) -> Option<String> + Send + Sync + 'static,
    {
        let mut files = ChainFileResolver::new();
        files.add(Sources(open));
        files.add(GoogleFileResolver::new());
        let bad = |e: protox::Error| {
            Error::new(format!("cannot read protobuf schema {name}: {e:?}").trim().to_owned())
        };
        let mut compiler = protox::Compiler::with_file_resolver(files);
        compiler.include_imports(true).open_file(name).map_err(bad)?;
        Ok(Schema { pool: compiler.descriptor_pool(), name: name.to_owned() })
    }

    /// A message type by its name within the schema, or by its full name.
    pub fn message(&self, message: &str) -> Result<MessageType> {
        let file = self.pool.get_file_by_name(&self.name);
        let package = file.as_ref().map(|f| f.package_name().to_owned()).unwrap_or_default();
        let full = match package.is_empty() {
            true => message.to_owned(),
            false => format!("{package}.{message}"),
        };
        let found =
            self.pool.get_message_by_name(&full).or_else(|| self.pool.get_message_by_name(message));
        match found {
            Some(found) => Ok(MessageType(found)),
            None => Err(Error::new(format!(
                "message type {message} not found in schema path {}",
                self.name
            ))),
        }
    }

    /// Names of the schema's own top-level messages.
    pub fn messages(&self) -> Vec<String> {
        let file = self.pool.get_file_by_name(&self.name);
        file.iter().flat_map(|f| f.messages()).map(|m| m.name().to_owned()).collect()
    }
}

impl MessageType {
    /// The columns of a stream without columns of its own.
    pub fn columns(&self) -> Vec<(Str, ColType)> {
        columns(&self.0, 0)
    }

    pub fn decode(&self, payload: &[u8]) -> Result<Object> {
        read::message(&self.0, payload)
    }

    pub fn encode(&self, row: &Object, out: &mut Vec<u8>) -> Result<()> {
        write::message(&self.0, row, out)
    }
}

fn columns(message: &MessageDescriptor, depth: usize) -> Vec<(Str, ColType)> {
    if depth > STRUCT_DEPTH_MAX {
        return Vec::new();
    }
    message
        .fields()
        .filter(|field| !field.is_map())
        .map(|field| (Str::from(field.name()), column(&field, depth)))
        .collect()
}

fn column(field: &FieldDescriptor, depth: usize) -> ColType {
    let one = kind(&field.kind(), depth);
    if field.is_list() { ColType::Array(Box::new(one)) } else { one }
}

fn kind(kind_of: &Kind, depth: usize) -> ColType {
    match kind_of {
        Kind::Double | Kind::Float => ColType::Float,
        Kind::Bool => ColType::Boolean,
        Kind::String => ColType::String,
        Kind::Bytes => ColType::Bytea,
        Kind::Message(message) => match wrapped(message) {
            Some(inner) => kind(&inner.kind(), depth),
            None => ColType::Struct(columns(message, depth + 1)),
        },
        _ => ColType::Bigint,
    }
}

/// The inner field of google.protobuf.Int64Value and its like.
fn wrapped(message: &MessageDescriptor) -> Option<FieldDescriptor> {
    let name = message.full_name().strip_prefix("google.protobuf.")?;
    if !name.ends_with("Value") || name == "ListValue" || name == "Value" || name == "NullValue" {
        return None;
    }
    message.get_field(1)
}
