//! Pages that are written from the code. Each generator is a program of the crate it describes,
//! which writes files into the folder it is given; one line in [`PAGES`] adds one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Pages {
    /// Below the root.
    folder: &'static str,
    crate_name: &'static str,
    example: &'static str,
}

const PAGES: &[Pages] = &[Pages {
    folder: "docs/reference/functions",
    crate_name: "rekuiper-functions",
    example: "reference",
}];

pub fn write(root: &Path) -> Result<(), String> {
    for pages in PAGES {
        let folder = root.join(pages.folder);
        // pages of what is gone must not stay
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        generate(root, pages, &folder)?;
        println!("{} is written", pages.folder);
    }
    Ok(())
}

pub fn check(root: &Path) -> Result<(), String> {
    let mut stale = Vec::new();
    for pages in PAGES {
        let fresh = Scratch::new(root);
        generate(root, pages, &fresh.0)?;
        let (have, want) = (read(&root.join(pages.folder))?, read(&fresh.0)?);
        stale.extend(differences(pages.folder, &have, &want));
    }
    if stale.is_empty() {
        return Ok(());
    }
    Err(format!("stale pages, run `cargo xtask codegen`:\n  {}", stale.join("\n  ")))
}

fn generate(root: &Path, pages: &Pages, folder: &Path) -> Result<(), String> {
    let status = Command::new(env!("CARGO"))
        .args(["run", "-q", "-p", pages.crate_name, "--example", pages.example, "--"])
        .arg(folder)
        .current_dir(root)
        .status()
        .map_err(|e| format!("cargo: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("{}: {status}", pages.crate_name)) }
}

/// A folder that is gone afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(root: &Path) -> Self {
        Self(root.join("target").join(format!("codegen-{}", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // what stays lies in the target folder and harms nobody
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

type Files = BTreeMap<String, String>;

fn read(folder: &Path) -> Result<Files, String> {
    let mut files = Files::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(files) };
    for entry in entries {
        let path = entry.map_err(|e| e.to_string())?.path();
        let text =
            std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.insert(name, text);
    }
    Ok(files)
}

fn differences(folder: &str, have: &Files, want: &Files) -> Vec<String> {
    let names = want.keys().chain(have.keys().filter(|n| !want.contains_key(*n)));
    names
        .filter(|name| have.get(*name) != want.get(*name))
        .map(|name| format!("{folder}/{name}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(of: &[(&str, &str)]) -> Files {
        of.iter().map(|(n, t)| ((*n).to_string(), (*t).to_string())).collect()
    }

    #[test]
    fn changed_missing_and_left_over_pages_are_named() {
        let have = files(&[("same.md", "x"), ("old.md", "x"), ("changed.md", "x")]);
        let want = files(&[("same.md", "x"), ("new.md", "x"), ("changed.md", "y")]);
        let told = differences("d", &have, &want);
        assert_eq!(told, ["d/changed.md", "d/new.md", "d/old.md"]);
        assert!(differences("d", &have, &have).is_empty());
    }
}
