//! Reading what a flag names. The file is read here, on the side of the user.

use std::path::Path;

use crate::outcome::Failure;

/// Definitions are small; a wrong file (a disk image, say) is refused instead of read.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

pub fn read(path: &str) -> Result<String, Failure> {
    let told = |why: String| Failure::Unmet(format!("Failed to read file {path}: {why}"));
    let size = std::fs::metadata(path).map_err(|e| told(e.to_string()))?.len();
    if size > FILE_BYTES_MAX {
        return Err(told(format!("{size} bytes are too many")));
    }
    std::fs::read_to_string(path).map_err(|e| told(e.to_string()))
}

pub fn write(path: &str, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text)
        .map_err(|e| Failure::Refused(format!("Failed to write file {path}: {e}")))
}

/// The file as a URL that the server can read.
pub fn url(path: &str) -> Result<String, Failure> {
    let full =
        std::path::absolute(Path::new(path)).map_err(|e| Failure::Unmet(format!("{path}: {e}")))?;
    Ok(format!("file://{}", full.display()))
}
