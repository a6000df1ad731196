//! Files that clients put into `data/uploads`.

use std::path::{Component, Path, PathBuf};

use rekuiper_store::Batch;
use serde_json::{Map, Value};

use super::{Catalog, space};
use crate::error::{ApiError, ApiResult};

impl Catalog {
    /// Where an upload of this name lies; names that would leave the folder are refused.
    pub fn upload_path(&self, name: &str) -> ApiResult<PathBuf> {
        let path = Path::new(name);
        let plain = |c: Component<'_>| matches!(c, Component::Normal(_));
        let control = name.bytes().any(|b| b == 0 || b == b'\\');
        if name.is_empty() || control || !path.components().all(plain) || name.ends_with('/') {
            let rule = "give a name inside the upload folder, without '..' and leading '/'";
            return Err(ApiError::bad(format!(
                "{name:?} is not a valid file name: {rule}"
            )));
        }
        let full = self.config.dirs.uploads().join(path);
        self.inside_uploads(&full, name)?;
        Ok(full)
    }

    /// A link inside the folder must not lead out of it.
    fn inside_uploads(&self, full: &Path, name: &str) -> ApiResult<()> {
        let root = self.config.dirs.uploads();
        let nearest = full.ancestors().find(|p| p.exists()).unwrap_or(&root);
        let real = |p: &Path| {
            p.canonicalize()
                .map_err(|e| ApiError::bad(format!("{name:?}: {e}")))
        };
        if real(nearest)?.starts_with(real(&root)?) {
            return Ok(());
        }
        Err(ApiError::bad(format!(
            "{name:?} lies outside of the upload folder"
        )))
    }

    /// Full paths of all files, in order.
    pub fn uploads(&self) -> Vec<String> {
        let mut out = Vec::new();
        collect(&self.config.dirs.uploads(), &mut out, 0);
        out.sort();
        out
    }

    /// Requests that made files, by name, as exported.
    pub fn upload_requests(&self) -> Vec<(String, Map<String, Value>)> {
        self.read()
            .uploads
            .iter()
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    }

    /// Remembers how a file was made, so that an export holds it.
    pub async fn remember_upload(&self, name: &str, request: Map<String, Value>) -> ApiResult<()> {
        let _edit = self.edit().await;
        let text = Value::Object(request.clone()).to_string();
        self.keep(Batch::new().put(space::UPLOAD, name, text))
            .await?;
        self.write().uploads.insert(name.to_owned(), request);
        Ok(())
    }

    pub async fn drop_upload(&self, name: &str) -> ApiResult<()> {
        let path = self.upload_path(name)?;
        let _edit = self.edit().await;
        std::fs::remove_file(&path)
            .map_err(|e| ApiError::bad(format!("upload {name} cannot be deleted: {e}")))?;
        self.keep(Batch::new().delete(space::UPLOAD, name)).await?;
        self.write().uploads.remove(name);
        Ok(())
    }
}

fn collect(dir: &Path, out: &mut Vec<String>, depth: usize) {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        match entry.file_type() {
            Ok(t) if t.is_dir() && depth < 16 => collect(&entry.path(), out, depth + 1),
            Ok(t) if t.is_file() => out.push(entry.path().display().to_string()),
            _ => {}
        }
    }
}
