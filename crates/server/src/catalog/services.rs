//! External services: a descriptor of interfaces and the functions they give.

use std::path::PathBuf;

use rekuiper_store::Batch;
use serde_json::{Map, Value, json};

use super::{Catalog, space};
use crate::error::{ApiError, ApiResult};

/// A service as installed.
#[derive(Debug, Clone)]
pub struct Service {
    /// The request that installed it.
    pub request: Map<String, Value>,
    /// As described to clients.
    pub shown: Value,
    pub functions: Vec<ServiceFunction>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceFunction {
    pub name: String,
    pub service: String,
    pub interface: String,
    pub addr: String,
    pub method: String,
}

impl ServiceFunction {
    pub fn to_value(&self) -> Value {
        json!({
            "FuncName": self.name,
            "ServiceName": self.service,
            "InterfaceName": self.interface,
            "Addr": self.addr,
            "MethodName": self.method,
        })
    }

    fn stored(v: &Value) -> Option<ServiceFunction> {
        let text = |key: &str| v[key].as_str().map(str::to_owned);
        Some(ServiceFunction {
            name: text("FuncName")?,
            service: text("ServiceName")?,
            interface: text("InterfaceName")?,
            addr: text("Addr")?,
            method: text("MethodName")?,
        })
    }
}

impl Service {
    pub(super) fn stored(o: &Map<String, Value>) -> Option<Service> {
        Some(Service {
            request: o.get("request")?.as_object()?.clone(),
            shown: o.get("shown")?.clone(),
            functions: o
                .get("functions")?
                .as_array()?
                .iter()
                .filter_map(ServiceFunction::stored)
                .collect(),
        })
    }

    fn to_value(&self) -> Value {
        let functions: Vec<Value> = self
            .functions
            .iter()
            .map(ServiceFunction::to_value)
            .collect();
        json!({"request": self.request, "shown": self.shown, "functions": functions})
    }

    /// Reads a descriptor; `proto` gives the text of a schema file of the archive.
    pub fn read(
        name: &str,
        request: Map<String, Value>,
        descriptor: &Value,
        proto: impl Fn(&str) -> Option<String>,
    ) -> ApiResult<Service> {
        let Some(interfaces) = descriptor["interfaces"]
            .as_object()
            .filter(|i| !i.is_empty())
        else {
            return Err(ApiError::bad(format!(
                "service {name} describes no interfaces"
            )));
        };
        let mut shown = Map::new();
        let mut functions = Vec::new();
        for (key, i) in interfaces {
            let own = interface_functions(name, key, i, &proto)?;
            let names: Vec<&str> = own.iter().map(|f| f.name.as_str()).collect();
            shown.insert(
                key.clone(),
                json!({
                    "Desc": i.get("description").cloned().unwrap_or_default(),
                    "Addr": i["address"],
                    "Protocol": i["protocol"],
                    "Schema": {
                        "SchemaType": i["schemaType"].as_str().unwrap_or_default(),
                        "SchemaFile": i["schemaFile"].as_str().unwrap_or_default(),
                        "Schemaless": i["schemaless"].as_bool().unwrap_or(false),
                    },
                    "Functions": names,
                    "Options": i.get("options").cloned().unwrap_or_default(),
                }),
            );
            functions.extend(own);
        }
        let shown = json!({"About": descriptor["about"], "Interfaces": shown});
        Ok(Service {
            request,
            shown,
            functions,
        })
    }
}

fn interface_functions(
    service: &str,
    interface: &str,
    i: &Value,
    proto: impl Fn(&str) -> Option<String>,
) -> ApiResult<Vec<ServiceFunction>> {
    let addr = i["address"].as_str().unwrap_or_default();
    let one = |name: &str, method: &str| ServiceFunction {
        name: name.to_owned(),
        service: service.to_owned(),
        interface: interface.to_owned(),
        addr: addr.to_owned(),
        method: method.to_owned(),
    };
    let protocol = i["protocol"].as_str().unwrap_or_default();
    if !["rest", "grpc", "msgpack-rpc"].contains(&protocol) {
        return Err(ApiError::bad(format!(
            "interface {interface}: protocol {protocol:?} is not known, \
             expected rest, grpc or msgpack-rpc"
        )));
    }
    if i["schemaless"].as_bool() == Some(true) {
        return Ok(vec![one(interface, "")]);
    }
    let file = i["schemaFile"].as_str().unwrap_or_default();
    let text = proto(file).ok_or_else(|| {
        ApiError::bad(format!(
            "interface {interface}: schemas/{file} is not in the archive"
        ))
    })?;
    let mapped: Vec<(&str, &str)> = i["functions"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|f| Some((f["serviceName"].as_str()?, f["name"].as_str()?)))
        .collect();
    Ok(methods(&text)
        .iter()
        .map(|method| {
            let alias = mapped
                .iter()
                .find(|(m, _)| m == method)
                .map_or(method.as_str(), |(_, a)| a);
            one(alias, method)
        })
        .collect())
}

/// The names after `rpc` in a protobuf file; comments and texts are passed over.
fn methods(proto: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut words = words(proto).into_iter();
    while let Some(word) = words.next() {
        if word == "rpc" {
            out.extend(words.next());
        }
    }
    out
}

fn words(proto: &str) -> Vec<String> {
    let (mut out, mut word) = (Vec::new(), String::new());
    let mut chars = proto.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_alphanumeric() || c == '_' || c == '.' {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            out.push(std::mem::take(&mut word));
        }
        match (c, chars.peek()) {
            ('/', Some('/')) => while chars.next().is_some_and(|c| c != '\n') {},
            ('/', Some('*')) => {
                chars.next();
                let mut last = ' ';
                for c in chars.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            ('"' | '\'', _) => while chars.next().is_some_and(|x| x != c && x != '\n') {},
            _ => {}
        }
    }
    out
}

impl Catalog {
    pub fn services(&self) -> Vec<String> {
        self.read().services.keys().cloned().collect()
    }

    pub fn service(&self, name: &str) -> Option<Service> {
        self.read().services.get(name).cloned()
    }

    pub fn service_functions(&self) -> Vec<ServiceFunction> {
        self.read()
            .services
            .values()
            .flat_map(|s| s.functions.clone())
            .collect()
    }

    pub fn service_file(&self, name: &str) -> PathBuf {
        self.config
            .dirs
            .data
            .join("services")
            .join(format!("{name}.json"))
    }

    pub async fn put_service(&self, name: &str, service: Service) -> ApiResult<()> {
        let _edit = self.edit().await;
        self.keep(Batch::new().put(space::SERVICE, name, service.to_value().to_string()))
            .await?;
        self.write().services.insert(name.to_owned(), service);
        Ok(())
    }

    pub async fn drop_service(&self, name: &str) -> ApiResult<()> {
        let _edit = self.edit().await;
        if self.service(name).is_none() {
            return Err(ApiError::not_found(format!("service {name} is not found")));
        }
        self.keep(Batch::new().delete(space::SERVICE, name)).await?;
        self.write().services.remove(name);
        self.remove_service_files(name);
        Ok(())
    }

    pub(super) fn remove_service_files(&self, name: &str) {
        let _ = std::fs::remove_file(self.service_file(name));
    }
}

#[cfg(test)]
mod tests {
    use super::methods;

    #[test]
    fn methods_of_a_proto_file() {
        let text = "// rpc No(A)\n/* rpc Nor(A) */ service S { rpc One(In) returns (Out) {}\n\
            rpc Two (In) returns(Out) { option (x) = { post: \"rpc Three\" }; } }";
        assert_eq!(methods(text), ["One", "Two"]);
    }
}
