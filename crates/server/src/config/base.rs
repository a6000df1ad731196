//! The folders `etc`, `data`, `log` and `plugins`.

use std::path::{Path, PathBuf};

/// Where to look, as command line and environment say.
#[derive(Debug, Clone)]
pub enum Place {
    /// Below a base folder.
    Relative(PathBuf),
    /// At the places of a system-wide installation, save what is given here.
    Absolute {
        etc: Option<PathBuf>,
        data: Option<PathBuf>,
        log: Option<PathBuf>,
        plugins: Option<PathBuf>,
    },
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dirs {
    pub etc: PathBuf,
    pub data: PathBuf,
    pub log: PathBuf,
    pub plugins: PathBuf,
}

/// Folders of `data` that are there from the start.
const DATA: [&str; 8] = [
    "uploads",
    "sources",
    "sinks",
    "functions",
    "services",
    "services/schemas",
    "connections",
    "schemas/protobuf",
];

impl Dirs {
    /// Finds the folders and makes those that are missing.
    pub fn find(place: &Place) -> Result<Dirs, String> {
        let dirs = match place {
            Place::Relative(base) => Dirs {
                etc: below(base, "etc"),
                data: below(base, "data"),
                log: below(base, "log"),
                plugins: below(base, "plugins"),
            },
            Place::Absolute {
                etc,
                data,
                log,
                plugins,
            } => {
                let at = |given: &Option<PathBuf>, usual: &str| {
                    given.clone().unwrap_or_else(|| PathBuf::from(usual))
                };
                Dirs {
                    etc: at(etc, "/etc/kuiper"),
                    data: at(data, "/var/lib/kuiper/data"),
                    log: at(log, "/var/log/kuiper"),
                    plugins: at(plugins, "/var/lib/kuiper/plugins"),
                }
            }
        };
        dirs.make()?;
        Ok(dirs)
    }

    fn make(&self) -> Result<(), String> {
        let data = DATA.iter().map(|d| self.data.join(d));
        for dir in [self.etc.clone(), self.log.clone(), self.plugins.clone()]
            .into_iter()
            .chain(data)
        {
            std::fs::create_dir_all(&dir)
                .map_err(|e| format!("folder {} cannot be made: {e}", dir.display()))?;
        }
        Ok(())
    }

    pub fn uploads(&self) -> PathBuf {
        self.data.join("uploads")
    }
}

/// `base/sub`, or the same in a folder above. A folder above counts only where a server is
/// installed there, or else `/etc` would pass for ours.
fn below(base: &Path, sub: &str) -> PathBuf {
    let own = base.join(sub);
    if own.is_dir() {
        return own;
    }
    let installed = |dir: &&Path| dir.join("etc/kuiper.yaml").is_file() && dir.join(sub).is_dir();
    base.ancestors()
        .skip(1)
        .find(installed)
        .map_or(own, |dir| dir.join(sub))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_above_where_a_server_is_installed_and_made_where_not() {
        let root = std::env::temp_dir().join(format!("rekuiper-base-{}", std::process::id()));
        let bin = root.join("home/bin");
        std::fs::create_dir_all(root.join("home/etc")).unwrap();
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::write(root.join("home/etc/kuiper.yaml"), "basic:\n  restPort: 1\n").unwrap();
        let dirs = Dirs::find(&Place::Relative(bin.clone())).unwrap();
        assert_eq!(dirs.etc, root.join("home/etc"));
        assert_eq!(dirs.data, bin.join("data"));
        assert!(dirs.uploads().is_dir());
        let lone = root.join("lone");
        std::fs::create_dir_all(&lone).unwrap();
        assert_eq!(
            Dirs::find(&Place::Relative(lone.clone())).unwrap().etc,
            lone.join("etc")
        );
        std::fs::remove_dir_all(root).unwrap();
    }
}
