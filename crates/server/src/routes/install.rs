//! What imports share with the routes that install single things.

pub use super::plugins::install as native;
pub use super::portables::install as portable;
pub use super::schemas::read as schema;
pub use super::scripts::put as script;
pub use super::uploads::from_json as upload;

use serde_json::{Map, Value};

use crate::App;
use crate::engine::Change;
use crate::error::ApiResult;

pub async fn service(app: &App, name: &str, request: Map<String, Value>) -> ApiResult<()> {
    crate::web::check_name("service name", name)?;
    crate::services::install(app, name, request).await?;
    Ok(app
        .engine
        .changed(Change::ServicePut(name.to_owned()))
        .await?)
}
