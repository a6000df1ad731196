//! Figures of a page come from the folders of runs: between two marks of the page stands what the
//! newest folder's `figures.md` says, so that no figure is typed twice.
//!
//! A mark is `<!-- figures: FOLDER/*-NAME -->`, counted from the repository; the block ends with
//! `<!-- end -->`.

use std::fs;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- figures: ";
const END: &str = "<!-- end -->";

/// The last of the folders whose names end so; they begin with their date.
pub fn newest(folder: &Path, ending: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path());
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(ending) && path.join("figures.md").is_file()
    };
    entries.filter(named).max()
}

/// Fills every block of the page anew; `true` when that changed it.
pub fn renew(page: &Path, repository: &Path, check: bool) -> Result<bool, String> {
    let failed = |e: std::io::Error| format!("{}: {e}", page.display());
    let old = fs::read_to_string(page).map_err(failed)?;
    let new = filled(&old, |pattern| figures(repository, pattern))?;
    if new != old && !check {
        fs::write(page, &new).map_err(failed)?;
    }
    Ok(new != old)
}

fn filled(page: &str, of: impl Fn(&str) -> Result<String, String>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = page;
    while let Some(at) = rest.find(BEGIN) {
        let body = at + BEGIN.len();
        let close = rest[body..].find(" -->").ok_or("a mark has no `-->`")? + body;
        let pattern = &rest[body..close];
        let end = rest[close..]
            .find(END)
            .ok_or(format!("`{pattern}` has no {END}"))?
            + close;
        out.push_str(&rest[..close]);
        out.push_str(&format!(" -->\n\n{}\n\n", of(pattern)?.trim()));
        out.push_str(END);
        rest = &rest[end + END.len()..];
    }
    out.push_str(rest);
    Ok(out)
}

fn figures(repository: &Path, pattern: &str) -> Result<String, String> {
    let (folder, ending) = pattern
        .rsplit_once("/*")
        .ok_or(format!("`{pattern}`: expected FOLDER/*-NAME"))?;
    let Some(run) = newest(&repository.join(folder), ending) else {
        return Ok("Not run yet.".to_string());
    };
    let path = run.join("figures.md");
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let name = run.file_name().unwrap_or_default().to_string_lossy();
    let text = text.replace("](", &format!("](../{folder}/{name}/"));
    Ok(format!(
        "From [{name}](../{folder}/{name}/README.md):\n\n{}",
        text.trim()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_filled_and_the_rest_stays() {
        let page = "a\n<!-- figures: x/*-y -->\nold 1\n<!-- end -->\nb\n";
        let new = filled(page, |pattern| Ok(format!("new of {pattern}"))).unwrap();
        assert_eq!(
            new,
            "a\n<!-- figures: x/*-y -->\n\nnew of x/*-y\n\n<!-- end -->\nb\n"
        );
        assert_eq!(filled(&new, |_| Ok("new of x/*-y".into())).unwrap(), new);
        assert!(filled("<!-- figures: x/*-y -->\n", |_| Ok(String::new())).is_err());
    }

    #[test]
    fn the_newest_folder_with_figures_counts() {
        let root = std::env::temp_dir().join(format!("iotrunner-page-{}", std::process::id()));
        for name in ["2026-01-01-a", "2026-02-01-a", "2026-03-01-b"] {
            fs::create_dir_all(root.join("runs").join(name)).unwrap();
            fs::write(root.join("runs").join(name).join("figures.md"), name).unwrap();
        }
        fs::create_dir_all(root.join("runs/2026-04-01-a")).unwrap();
        let text = figures(&root, "runs/*-a").unwrap();
        assert!(text.ends_with("2026-02-01-a"), "{text}");
        assert_eq!(figures(&root, "runs/*-c").unwrap(), "Not run yet.");
        fs::remove_dir_all(&root).unwrap();
    }
}
