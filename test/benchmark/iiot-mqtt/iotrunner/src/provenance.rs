//! Which source and which programs a run is about: the commit, whether the tree was clean, and one
//! engine binary for the whole run, copied aside so that a later build cannot slip under it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::engine::EngineSpec;

/// The tree at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    pub commit: String,
    /// Tracked files with changes that are not committed.
    pub changed: Vec<String>,
}

impl Tree {
    pub fn look(home: &Path) -> Tree {
        let git = |words: &[&str]| {
            let out = Command::new("git")
                .arg("-C")
                .arg(home)
                .args(words)
                .output()
                .ok()?;
            let text = String::from_utf8_lossy(&out.stdout).trim_end().to_string();
            out.status.success().then_some(text)
        };
        let commit = git(&["rev-parse", "--short=12", "HEAD"]);
        let changed = git(&["status", "--porcelain", "-uno"]).unwrap_or_default();
        Tree {
            commit: commit.unwrap_or_else(|| "unknown".to_string()),
            changed: changed
                .lines()
                .map(|line| line.trim().to_string())
                .collect(),
        }
    }

    pub fn clean(&self) -> bool {
        self.changed.is_empty() && self.commit != "unknown"
    }
}

/// What the record says about the sources: a line each for the start and the end of a run.
pub fn sentences(start: &Tree, end: &Tree, built: bool) -> Vec<String> {
    let mut list = vec![format!("revision: {}", start.commit)];
    list.push(match start.clean() {
        true => "tree at the start: clean".to_string(),
        false => format!(
            "tree at the start: NOT CLEAN, not for keeping ({})",
            start.changed.join(", ")
        ),
    });
    if end != start {
        list.push(format!(
            "tree while it ran: others went on to {} ({} files changed); the programs are those \
             of the start, see their hashes",
            end.commit,
            end.changed.len()
        ));
    }
    list.push(match built {
        true => "engine: built from this revision at the start of the run".to_string(),
        false => "engine: taken as it lay there, NOT built by this run".to_string(),
    });
    list
}

/// A folder of copies that goes with its owner.
#[derive(Debug)]
pub struct Copies(PathBuf);

impl Copies {
    pub fn folder(work: &Path) -> Result<Copies, String> {
        let folder = work.join(format!("iotrunner-{}-programs", std::process::id()));
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(Copies(folder))
    }

    /// The program, copied, so that nobody can build over it.
    pub fn take(&self, program: &Path) -> Result<PathBuf, String> {
        let to = self.0.join(program.file_name().unwrap_or_default());
        let failed = |e| format!("{} to {}: {e}", program.display(), to.display());
        fs::copy(program, &to).map(|_| ()).map_err(failed)?;
        Ok(to)
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// SHA-256 of a file, by the system's own program.
pub fn hash(path: &Path) -> Result<String, String> {
    let failed = |why: String| format!("sha256sum {}: {why}", path.display());
    let out = Command::new("sha256sum").arg(path).output();
    let out = out.map_err(|e| failed(e.to_string()))?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    match text.split_whitespace().next() {
        Some(word) if out.status.success() && word.len() >= 64 => {
            Ok(word.trim_start_matches('\\').to_string())
        }
        _ => Err(failed(
            String::from_utf8_lossy(&out.stderr).trim().to_string(),
        )),
    }
}

/// An error when the engine's program is another one than at the start of the run.
pub fn same_engine(engine: &EngineSpec) -> Result<(), String> {
    if engine.hash.is_empty() || engine.name == "bare" {
        return Ok(());
    }
    match hash(&engine.path)? {
        now if now == engine.hash => Ok(()),
        now => Err(format!(
            "the program of {} was replaced during the run ({} now, {} at the start)",
            engine.name, now, engine.hash
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_engine_is_found() {
        let path = std::env::temp_dir().join(format!("iotrunner-hash-{}", std::process::id()));
        fs::write(&path, "one").unwrap();
        let mut engine = EngineSpec::parse(&format!("ekuiper={}", path.display())).unwrap();
        engine.hash = hash(&path).unwrap();
        assert!(engine.hash.len() == 64 && same_engine(&engine).is_ok());
        fs::write(&path, "two").unwrap();
        assert!(same_engine(&engine).unwrap_err().contains("replaced"));
        fs::remove_file(&path).unwrap();
        assert!(same_engine(&engine).is_err());
    }

    #[test]
    fn a_tree_with_changes_is_marked() {
        let clean = Tree {
            commit: "abc".to_string(),
            changed: Vec::new(),
        };
        let dirty = Tree {
            changed: vec!["M src/x.rs".to_string()],
            ..clean.clone()
        };
        assert!(!sentences(&clean, &clean, true).concat().contains("NOT"));
        assert!(sentences(&dirty, &dirty, true)[1].contains("NOT CLEAN"));
        assert!(sentences(&clean, &dirty, true)[2].contains("others went on"));
        assert!(sentences(&clean, &clean, false)[2].contains("NOT built"));
    }
}
