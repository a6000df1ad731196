//! Protocol grpc: one unary call, without TLS.

use std::sync::Arc;

use rekuiper_connect::http::GrpcClient;
use rekuiper_connect::{ConnectError, Services};
use rekuiper_formats::proto::Method;
use rekuiper_functions::{Cx, ExternalFn};
use rekuiper_value::{Object, Result, Value};

use super::{TIMEOUT_MS, input, is_empty, is_wrapper, waited, wrong};
use crate::catalog::ServiceFunction;

/// The only field of a wrapper such as `google.protobuf.Int64Value`.
const WRAPPED: &str = "value";

/// A function over gRPC.
pub struct Grpc {
    name: String,
    method: Method,
    path: String,
    client: GrpcClient,
    services: Arc<Services>,
}

impl Grpc {
    pub fn new(
        function: &ServiceFunction,
        method: Method,
        services: Arc<Services>,
    ) -> std::result::Result<Grpc, ConnectError> {
        if !method.unary {
            return Err(ConnectError::config(format!(
                "method {} sends or takes a stream, a function is one message there and one back",
                method.name
            )));
        }
        Ok(Grpc {
            name: function.name.clone(),
            path: format!("/{}/{}", method.service, method.name),
            method,
            client: GrpcClient::new(&function.addr)?,
            services,
        })
    }
}

impl ExternalFn for Grpc {
    fn call(&self, args: &[Value], _cx: Option<&Cx<'_>>) -> Result<Value> {
        let message = match input(&self.name, &self.method, args)? {
            Value::Object(message) => Object::clone(&message),
            scalar => Object::from([(WRAPPED.into(), scalar)]),
        };
        let mut bytes = Vec::new();
        self.method.input.encode(&message, &mut bytes).map_err(|e| wrong(&self.name, e))?;
        let call = self.client.call(&self.services, &self.path, &bytes, TIMEOUT_MS);
        let answer = waited(&self.name, call)?.map_err(|e| wrong(&self.name, e.text))?;
        let output = &self.method.output;
        if is_empty(output.full_name()) {
            return Ok(Value::Null);
        }
        let row = output.decode(&answer).map_err(|e| wrong(&self.name, e))?;
        Ok(match is_wrapper(output.full_name()) {
            true => row.get(WRAPPED).cloned().unwrap_or(Value::Null),
            false => Value::object(row),
        })
    }
}
