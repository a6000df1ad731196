//! Installing an external service from its archive.

use serde_json::{Map, Value};

use crate::App;
use crate::archive::Archive;
use crate::catalog::Service;
use crate::error::{ApiError, ApiResult};
use crate::web::json::text;

/// Reads the archive that the request points to and keeps what it describes.
pub async fn install(app: &App, name: &str, request: Map<String, Value>) -> ApiResult<()> {
    let file = text(&request, "file")?.unwrap_or_default();
    let archive = Archive::read(app.fetch.bytes(file).await?)?;
    let descriptor = archive
        .text(&format!("{name}.json"))
        .ok_or_else(|| ApiError::bad(format!("the archive holds no descriptor {name}.json")))?;
    let parsed: Value = serde_json::from_str(&descriptor)
        .map_err(|e| ApiError::bad(format!("{name}.json is not valid JSON: {e}")))?;
    let proto = |file: &str| archive.text(&format!("schemas/{file}"));
    let service = Service::read(name, request.clone(), &parsed, proto)?;
    let dir = app.config.dirs.data.join("services");
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(dir.join("schemas"))?;
        std::fs::write(app.catalog.service_file(name), &descriptor)?;
        for (path, content) in archive.below("schemas/") {
            // One level, plain names: nothing can leave the folder.
            if !path.contains('/') {
                std::fs::write(dir.join("schemas").join(path), content)?;
            }
        }
        Ok(())
    };
    write().map_err(|e| ApiError::bad(format!("service {name} cannot be written: {e}")))?;
    app.catalog.put_service(name, service).await
}
