//! What a schema says of the methods of its services, and of their way over HTTP.

use prost_reflect::{MethodDescriptor, Value};
use rekuiper_value::Str;

use super::{MessageType, Schema};

/// A method of a service.
#[derive(Clone, Debug)]
pub struct Method {
    pub name: String,
    /// `package.Service`
    pub service: String,
    /// Whether a call is one message there and one back.
    pub unary: bool,
    pub input: MessageType,
    pub output: MessageType,
    /// The option `google.api.http`.
    pub http: Option<HttpRule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRule {
    /// `GET`, `PUT`, `POST`, `DELETE` or `PATCH`.
    pub verb: &'static str,
    /// `/v1/{name=shelves/*}`
    pub path: String,
    /// `*`, a field's name, or empty.
    pub body: String,
}

impl Schema {
    /// Methods of all services of the schema's own file.
    pub fn methods(&self) -> Vec<Method> {
        let file = self.pool.get_file_by_name(&self.name);
        let services = file.iter().flat_map(|f| f.services().collect::<Vec<_>>());
        let methods = services.flat_map(|s| s.methods().collect::<Vec<_>>());
        methods.map(|m| self.method(&m)).collect()
    }

    fn method(&self, method: &MethodDescriptor) -> Method {
        Method {
            name: method.name().to_owned(),
            service: method.parent_service().full_name().to_owned(),
            unary: !method.is_client_streaming() && !method.is_server_streaming(),
            input: MessageType(method.input()),
            output: MessageType(method.output()),
            http: self.http_rule(method),
        }
    }

    fn http_rule(&self, method: &MethodDescriptor) -> Option<HttpRule> {
        let option = self.pool.get_extension_by_name("google.api.http")?;
        let options = method.options();
        if !options.has_extension(&option) {
            return None;
        }
        let rule = options.get_extension(&option).into_owned();
        let Value::Message(rule) = rule else { return None };
        let text = |field: &str| {
            let value = rule.get_field_by_name(field)?;
            value.as_str().filter(|t| !t.is_empty()).map(str::to_owned)
        };
        let verbs = ["GET", "PUT", "POST", "DELETE", "PATCH"];
        let (verb, path) =
            verbs.into_iter().find_map(|v| Some((v, text(&v.to_ascii_lowercase())?)))?;
        Some(HttpRule { verb, path, body: text("body").unwrap_or_default() })
    }
}

impl MessageType {
    /// `google.protobuf.StringValue`
    pub fn full_name(&self) -> &str {
        self.0.full_name()
    }

    /// Names of the fields in their order.
    pub fn field_names(&self) -> Vec<Str> {
        let mut fields: Vec<_> = self.0.fields().collect();
        fields.sort_by_key(|f| f.number());
        fields.iter().map(|f| Str::from(f.name())).collect()
    }
}

/// The file that schemas import for `google.api.http`, as far as it is read here.
pub(super) fn bundled(name: &str) -> Option<&'static str> {
    match name {
        "google/api/annotations.proto" => Some(ANNOTATIONS),
        "google/api/http.proto" => Some(HTTP),
        _ => None,
    }
}

const ANNOTATIONS: &str = r#"
syntax = "proto3";
package google.api;
import "google/api/http.proto";
import "google/protobuf/descriptor.proto";
extend google.protobuf.MethodOptions { HttpRule http = 72295728; }
"#;

const HTTP: &str = r#"
syntax = "proto3";
package google.api;
message Http { repeated HttpRule rules = 1; bool fully_decode_reserved_expansion = 2; }
message HttpRule {
  string selector = 1;
  oneof pattern {
    string get = 2;
    string put = 3;
    string post = 4;
    string delete = 5;
    string patch = 6;
    CustomHttpPattern custom = 8;
  }
  string body = 7;
  string response_body = 12;
  repeated HttpRule additional_bindings = 11;
}
message CustomHttpPattern { string kind = 1; string path = 2; }
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_and_their_http_rules() {
        let text = "syntax = \"proto3\"; package p; import \"google/api/annotations.proto\";
            service S { rpc Plain(In) returns (stream Out) {}
            rpc Ruled(In) returns (Out) {
              option (google.api.http) = { put: \"/v1/{a}\" body: \"b\" }; } }
            message In { string b = 2; string a = 1; } message Out { string c = 1; }";
        let open = move |name: &str| (name == "s.proto").then(|| text.to_owned());
        let schema = Schema::compile("s.proto", open).expect("compiles");
        let methods = schema.methods();
        assert_eq!(methods.len(), 2);
        assert_eq!(methods[0].http, None);
        assert!(!methods[0].unary);
        assert_eq!(methods[0].input.field_names(), ["a", "b"]);
        assert_eq!(methods[1].output.full_name(), "p.Out");
        assert_eq!((methods[1].service.as_str(), methods[1].unary), ("p.S", true));
        let rule = HttpRule { verb: "PUT", path: "/v1/{a}".into(), body: "b".into() };
        assert_eq!(methods[1].http, Some(rule));
    }
}
