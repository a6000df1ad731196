//! When a file is closed and a new one begun: by age, by count, by size.

use std::path::{Path, PathBuf};

use crate::{ConnectError, Props};

/// Where the stamp goes in the name of a closed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// The name stays as it is.
    None,
    Prefix,
    Suffix,
}

/// A value of 0 does not roll.
#[derive(Clone, Debug)]
pub struct Rolling {
    interval_ms: i64,
    count: u64,
    bytes: u64,
    check_ms: i64,
    pub pattern: Pattern,
}

impl Rolling {
    pub fn new(props: &Props) -> Result<Self, ConnectError> {
        let positive = |key: &str, value: i64| {
            u64::try_from(value).map_err(|_| {
                ConnectError::config(format!("property {key} must not be negative, found {value}"))
            })
        };
        let interval_ms = props.millis("rollingInterval", 0)?;
        positive("rollingInterval", interval_ms)?;
        let count = positive("rollingCount", props.int("rollingCount", 1_000_000)?)?;
        let bytes = positive("rollingSize", props.int("rollingSize", 0)?)?;
        let check_ms = props.millis("checkInterval", 300_000)?;
        positive("checkInterval", check_ms)?;
        if interval_ms == 0 && count == 0 && bytes == 0 {
            return Err(ConnectError::config(
                "one of rollingInterval, rollingCount and rollingSize must be greater than 0",
            ));
        }
        let pattern = match props.str_or("rollingNamePattern", "none")? {
            "none" => Pattern::None,
            "prefix" => Pattern::Prefix,
            "suffix" => Pattern::Suffix,
            other => {
                return Err(ConnectError::config(format!(
                    "rollingNamePattern must be prefix, suffix or none, found {other}"
                )));
            }
        };
        // without a stamp in the name the next file would overwrite this one: nothing is lost
        let never =
            pattern == Pattern::None && interval_ms == 0 && props.get("rollingCount").is_none();
        Ok(Rolling {
            interval_ms,
            count: if never && bytes == 0 { 0 } else { count },
            bytes,
            check_ms: if interval_ms > 0 { check_ms.min(interval_ms) } else { check_ms },
            pattern,
        })
    }

    /// Whether a file with this content is full before the next payload.
    pub fn due(&self, count: u64, bytes: u64, since_ms: i64, now_ms: i64) -> bool {
        (self.count > 0 && count >= self.count)
            || (self.bytes > 0 && bytes >= self.bytes)
            || self.too_old(since_ms, now_ms)
    }

    pub fn too_old(&self, since_ms: i64, now_ms: i64) -> bool {
        self.interval_ms > 0 && now_ms - since_ms >= self.interval_ms
    }

    /// How many more payloads may go into a file at once.
    pub fn room(&self, count: u64) -> usize {
        if self.bytes > 0 {
            return 1;
        }
        match self.count {
            0 => usize::MAX,
            max => max.saturating_sub(count).max(1) as usize,
        }
    }

    pub fn next_check(&self, oldest_ms: i64) -> Option<i64> {
        (self.interval_ms > 0).then(|| oldest_ms + self.interval_ms.max(self.check_ms))
    }
}

/// The name of a closed file, where the pattern changes it.
pub fn roll_name(path: &Path, pattern: Pattern, stamp_ms: i64) -> Option<PathBuf> {
    let stem = path.file_stem()?.to_string_lossy();
    let extension = path.extension().map(|e| format!(".{}", e.to_string_lossy()));
    let extension = extension.unwrap_or_default();
    let name = match pattern {
        Pattern::None => return None,
        Pattern::Prefix => format!("{stamp_ms}-{stem}{extension}"),
        Pattern::Suffix => format!("{stem}-{stamp_ms}{extension}"),
    };
    Some(path.with_file_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rolling(json: serde_json::Value) -> Result<Rolling, ConnectError> {
        Rolling::new(&Props::new(json.as_object().unwrap().clone()))
    }

    #[test]
    fn bounds_and_refusals() {
        let r = rolling(serde_json::json!({"rollingCount": 3})).unwrap();
        assert!(!r.due(2, 0, 0, 0) && r.due(3, 0, 0, 0));
        assert_eq!(r.room(1), 2);
        let r = rolling(serde_json::json!({"rollingInterval": "1s", "rollingCount": 0})).unwrap();
        assert!(r.too_old(0, 1000) && !r.too_old(0, 999));
        for bad in [
            serde_json::json!({"rollingCount": 0}),
            serde_json::json!({"rollingCount": -1}),
            serde_json::json!({"rollingNamePattern": "x"}),
        ] {
            assert!(rolling(bad).is_err());
        }
        assert!(
            !rolling(serde_json::json!({})).unwrap().due(5_000_000, 0, 0, 0),
            "nothing is lost"
        );
    }

    #[test]
    fn names() {
        let path = Path::new("/x/out.jsonl");
        let name = |p| roll_name(path, p, 7).map(|p| p.display().to_string());
        assert_eq!(name(Pattern::Suffix).as_deref(), Some("/x/out-7.jsonl"));
        assert_eq!(name(Pattern::Prefix).as_deref(), Some("/x/7-out.jsonl"));
        assert_eq!(name(Pattern::None), None);
    }
}
