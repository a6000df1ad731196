//! Functions written in JavaScript.

use rekuiper_store::Batch;
use serde_json::{Map, Value};

use super::{Catalog, space};
use crate::error::{ApiError, ApiResult};

impl Catalog {
    pub fn scripts(&self) -> Vec<(String, Map<String, Value>)> {
        self.read()
            .scripts
            .iter()
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    }

    pub fn script(&self, id: &str) -> Option<Map<String, Value>> {
        self.read().scripts.get(id).cloned()
    }

    pub async fn put_script(
        &self,
        id: &str,
        script: Map<String, Value>,
        only_new: bool,
    ) -> ApiResult<()> {
        let _edit = self.edit().await;
        if only_new && self.script(id).is_some() {
            return Err(ApiError::bad(format!(
                "javascript function {id} already exists"
            )));
        }
        let text = Value::Object(script.clone()).to_string();
        self.keep(Batch::new().put(space::SCRIPT, id, text)).await?;
        self.write().scripts.insert(id.to_owned(), script);
        Ok(())
    }

    pub async fn drop_script(&self, id: &str) -> ApiResult<()> {
        let _edit = self.edit().await;
        if self.script(id).is_none() {
            return Err(ApiError::bad(format!(
                "javascript function {id} does not exist"
            )));
        }
        self.keep(Batch::new().delete(space::SCRIPT, id)).await?;
        self.write().scripts.remove(id);
        Ok(())
    }
}
