//! The texts of the repository, read once.

use std::path::{Path, PathBuf};

/// Folders of hand-written things.
const TOPS: &[&str] =
    &["crates", "xtask", "test", "tests", "docs", "web", "etc", "fuzz", ".ci", ".cargo"];
const KINDS: &[&str] =
    &["rs", "toml", "md", "sh", "yml", "yaml", "json", "txt", "html", "js", "css"];
/// Recorded data and results: big, and nobody's prose.
const LEFT_OUT: &[&str] = &["target", "runs", "node_modules", "corpus"];

pub struct File {
    /// From the root, with `/`.
    pub path: String,
    pub text: String,
}

impl File {
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Is all of it test code, an example or a bench?
    pub fn is_test(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        ["/tests/", "/examples/", "/benches/"].iter().any(|d| self.path.contains(d))
            || name == "tests.rs"
            || name.ends_with("_tests.rs")
            || name == "testing.rs"
    }

    /// The crate below `crates/` that the file is source of.
    pub fn source_of(&self) -> Option<&str> {
        let (name, rest) = self.path.strip_prefix("crates/")?.split_once('/')?;
        (rest.starts_with("src/") && self.is_rust()).then_some(name)
    }

    /// Lines before the tests of the file, with their numbers.
    pub fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let end = if self.is_test() { 0 } else { usize::MAX };
        let mut lines = self.text.lines().enumerate().peekable();
        let mut stopped = false;
        std::iter::from_fn(move || {
            let (n, line) = lines.next()?;
            let mut next_is_module =
                || lines.peek().is_some_and(|(_, l)| l.starts_with("mod ") && l.ends_with('{'));
            stopped |= n >= end || (line == "#[cfg(test)]" && next_is_module());
            (!stopped).then_some((n + 1, line))
        })
    }
}

#[derive(Default)]
pub struct Tree {
    pub files: Vec<File>,
    /// For what is not text.
    root: Option<PathBuf>,
}

impl Tree {
    pub fn read(root: &Path) -> Result<Self, String> {
        let mut tree = Tree { root: Some(root.into()), ..Tree::default() };
        for top in TOPS {
            walk(&root.join(top), top, &mut tree.files)?;
        }
        let entries = std::fs::read_dir(root).map_err(|e| e.to_string())?;
        for entry in entries.flatten().filter(|e| e.path().is_file()) {
            take(&entry.path(), &entry.file_name().to_string_lossy(), &mut tree.files)?;
        }
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }

    pub fn get(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|f| f.path == path)
    }

    /// Is there such a file or folder?
    pub fn exists(&self, path: &str) -> bool {
        let inside = |f: &File| f.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        path.is_empty()
            || self.files.iter().any(|f| f.path == path || inside(f))
            || self.root.as_ref().is_some_and(|root| root.join(path).exists())
    }

    /// Source files of the crate.
    pub fn sources<'a>(&'a self, of: &'a str) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(move |f| f.source_of() == Some(of))
    }

    /// Names of all folders in `crates/`.
    pub fn crates(&self) -> Vec<&str> {
        let of = |f: &'static str| move |p: &File| p.path.ends_with(f);
        let manifests = self.files.iter().filter(|f| of("/Cargo.toml")(f));
        manifests
            .filter_map(|f| f.path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml"))
            .filter(|name| !name.contains('/'))
            .collect()
    }

    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(p, t)| File { path: (*p).into(), text: (*t).into() });
        Self { files: files.collect(), root: None }
    }
}

fn walk(folder: &Path, path: &str, files: &mut Vec<File>) -> Result<(), String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if LEFT_OUT.contains(&name.as_str()) {
            continue;
        }
        let below = format!("{path}/{name}");
        if entry.path().is_dir() {
            walk(&entry.path(), &below, files)?;
        } else {
            take(&entry.path(), &below, files)?;
        }
    }
    Ok(())
}

fn take(path: &Path, shown: &str, files: &mut Vec<File>) -> Result<(), String> {
    let kind = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    if !KINDS.contains(&kind.as_str()) && !shown.starts_with(".ci/") {
        return Ok(());
    }
    match std::fs::read(path) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            files.push(File { path: shown.into(), text });
            Ok(())
        }
        // somebody saved it anew just now
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(format!("{shown}: {e}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_ends_where_the_tests_begin() {
        let text = "a\n#[cfg(test)]\nmod twin;\nb\n#[cfg(test)]\nmod tests {\nc\n}\n";
        let tree = Tree::of(&[("crates/x/src/a.rs", text), ("crates/x/tests/t.rs", "a\nb\n")]);
        let lines = |f: &File| f.code().map(|(n, _)| n).collect::<Vec<_>>();
        assert_eq!(lines(&tree.files[0]), [1, 2, 3, 4]);
        assert!(lines(&tree.files[1]).is_empty());
    }

    #[test]
    fn crates_and_their_sources() {
        let tree = Tree::of(&[
            ("crates/x/Cargo.toml", ""),
            ("crates/x/src/a.rs", ""),
            ("crates/x/tests/a.rs", ""),
        ]);
        assert_eq!(tree.crates(), ["x"]);
        assert_eq!(tree.sources("x").count(), 1);
    }
}
