//! HTTP as a client, for `rest`, `httppull` and external services: one request at a time over kept
//! connections, with a guard against targets inside private networks.

mod body;
mod client;
mod conf;
mod grpc;
mod guard;
#[cfg(test)]
mod guard_tests;
mod oauth;

#[cfg(test)]
pub(crate) mod testing;

pub use body::{BodyType, multipart};
pub use client::{Answer, Call, HttpClient, dial};
pub use conf::{
    HttpConf, Method, header_templates, header_texts, headers_of, method, object_of, parse_url,
};
pub use grpc::GrpcClient;
pub use guard::is_private;
pub use oauth::OAuth;

use rekuiper_template::Template;
use rekuiper_value::Value;

use crate::ConnectError;

/// A property that may hold a template.
pub struct MaybeTemplate {
    text: String,
    template: Option<Template>,
}

impl MaybeTemplate {
    pub fn new(key: &str, text: &str) -> Result<Self, ConnectError> {
        let template = match rekuiper_template::is_template(text) {
            true => Some(
                Template::parse(text)
                    .map_err(|e| ConnectError::config(format!("property {key}: {e}")))?,
            ),
            false => None,
        };
        Ok(MaybeTemplate { text: text.to_owned(), template })
    }

    pub fn render(&self, data: &Value) -> Result<String, ConnectError> {
        let Some(template) = &self.template else { return Ok(self.text.clone()) };
        let mut out = Vec::new();
        template
            .render(data, &mut out)
            .map_err(|e| ConnectError::data(format!("template {}: {e}", self.text)))?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }
}
