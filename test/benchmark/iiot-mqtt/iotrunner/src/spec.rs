//! A workload as its folder describes it: stream, rule, window, kind of proof.

use std::path::{Path, PathBuf};

use mqttgen::workload::Workload;
use serde_json::Value;

/// How the output is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofKind {
    /// The set of ids equals the expected one.
    Ids,
    /// Rows = sent, each (topic, value) as often as sent.
    Rows,
    /// Sum of `n` per device = sent.
    Groups,
}

/// When rows come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    None,
    Tumbling { ms: u64 },
    Session { max_ms: u64, gap_ms: u64 },
}

impl Window {
    /// The latest moment, in epoch ms, at which the last row is due for an end of sending.
    /// Tumbling windows are aligned to the epoch.
    pub fn due(self, end_ms: u64) -> u64 {
        match self {
            Window::None => end_ms,
            Window::Tumbling { ms } => (end_ms / ms + 1) * ms,
            Window::Session { gap_ms, .. } => end_ms + gap_ms,
        }
    }

    /// The longest a probe may take to come out.
    pub fn longest_ms(self) -> u64 {
        match self {
            Window::None => 0,
            Window::Tumbling { ms } => ms,
            // Silence after the probe ends the session, so the gap is enough.
            Window::Session { gap_ms, .. } => gap_ms,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Spec {
    pub workload: Workload,
    pub stream: String,
    pub rule: String,
    pub window: Window,
    pub proof: ProofKind,
}

/// The benchmark's home: the folder that holds `workloads/` and `peers/`, looked for from the
/// working folder upwards.
pub fn home() -> Result<PathBuf, String> {
    let start = std::env::current_dir().map_err(|e| e.to_string())?;
    for folder in start.ancestors() {
        for candidate in [
            folder.to_path_buf(),
            folder.join("test/benchmark/iiot-mqtt"),
        ] {
            if candidate.join("workloads/w1-filter/rule.sql").is_file() {
                return Ok(candidate);
            }
        }
    }
    Err("no workloads/ found: run this in the repository, or in test/benchmark/iiot-mqtt".into())
}

/// Reads the folder of a workload; `smoke` takes the short windows.
pub fn load(home: &Path, workload: Workload, smoke: bool) -> Result<Spec, String> {
    let root = home.join("workloads");
    let prefix = format!("{}-", workload.id());
    let entries = std::fs::read_dir(&root).map_err(|e| format!("{}: {e}", root.display()))?;
    let folder = entries
        .flatten()
        .find(|entry| entry.file_name().to_string_lossy().starts_with(&prefix))
        .ok_or(format!("no folder {prefix}* in {}", root.display()))?
        .path();
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
    };
    parse(workload, &read("workload.json")?, &read("rule.sql")?, smoke)
        .map_err(|text| format!("{}/workload.json: {text}", folder.display()))
}

fn parse(workload: Workload, json: &str, rule: &str, smoke: bool) -> Result<Spec, String> {
    let value: Value = serde_json::from_str(json).map_err(|e| e.to_string())?;
    let text = |key: &str| {
        value[key]
            .as_str()
            .ok_or(format!("`{key}` must be a string"))
    };
    if text("id")? != workload.id() {
        return Err(format!("`id` is not {}", workload.id()));
    }
    let small = smoke && value["smoke"].is_object();
    let numbers = if small {
        &value["smoke"]
    } else {
        &value["window"]
    };
    let ms = |key: &str| {
        let seconds = numbers[key].as_u64().filter(|s| *s > 0);
        seconds
            .map(|s| s * 1000)
            .ok_or(format!("`{key}` must be a number above 0"))
    };
    let window = match value["window"]["kind"].as_str() {
        Some("none") => Window::None,
        Some("tumbling") => Window::Tumbling { ms: ms("seconds")? },
        Some("session") => Window::Session {
            max_ms: ms("seconds")?,
            gap_ms: ms("gap")?,
        },
        _ => return Err("window.kind: expected none, tumbling or session".to_string()),
    };
    let proof = match text("proof")? {
        "ids" => ProofKind::Ids,
        "rows" => ProofKind::Rows,
        "groups" => ProofKind::Groups,
        other => return Err(format!("proof `{other}`: expected ids, rows or groups")),
    };
    let mut rule = rule.trim().to_string();
    if small {
        let pair = [0, 1].map(|i| value["smoke"]["replace"][i].as_str().unwrap_or(""));
        if pair[0].is_empty() || !rule.contains(pair[0]) {
            return Err("smoke.replace: expected [old, new] with old in rule.sql".to_string());
        }
        rule = rule.replace(pair[0], pair[1]);
    }
    Ok(Spec {
        workload,
        stream: text("stream")?.to_string(),
        rule,
        window,
        proof,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_folder_loads_and_its_smoke_windows_are_shorter() {
        let home = home().unwrap();
        for workload in Workload::ALL {
            let full = load(&home, workload, false).unwrap();
            let smoke = load(&home, workload, true).unwrap();
            assert!(full.stream.contains(workload.filter()), "{}", full.stream);
            if full.window != Window::None {
                assert!(smoke.window.longest_ms() < full.window.longest_ms());
                assert_ne!(smoke.rule, full.rule);
            }
        }
    }

    #[test]
    fn the_due_close_follows_the_window() {
        assert_eq!(Window::None.due(12_345), 12_345);
        assert_eq!(Window::Tumbling { ms: 10_000 }.due(12_345), 20_000);
        assert_eq!(
            Window::Session {
                max_ms: 10_000,
                gap_ms: 2_000
            }
            .due(12_345),
            14_345
        );
    }
}
