//! The machine and the versions, for the record.

use std::fs;
use std::process::Command;

use crate::options::Options;
use crate::provenance::{self, Tree};

/// Processor, memory, kernel, system and compiler, as lines of `- key: value`.
pub fn hardware() -> Vec<String> {
    vec![
        format!("- processor: {}", processor()),
        format!(
            "- memory: {}",
            first_word_line("/proc/meminfo", "MemTotal:")
        ),
        format!("- kernel: {}", read("/proc/sys/kernel/osrelease")),
        format!(
            "- system: {}",
            first_word_line("/etc/os-release", "PRETTY_NAME=")
        ),
        format!("- compiler: {}", output("rustc", &["--version"])),
    ]
}

/// Lines of `- key: value`.
pub fn describe(options: &Options) -> String {
    let mut lines = hardware();
    lines.extend([
        format!("- broker: {}", broker_version(&options.broker)),
        format!("- engine core: {}", core(options.engine_core)),
        format!(
            "- core of broker, generator and runner: {}",
            core(options.load_core)
        ),
    ]);
    for engine in &options.engines {
        let name = engine
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        lines.push(format!(
            "- engine {}: `{name}`, SHA-256 {}, the same at every step",
            engine.name, engine.hash
        ));
    }
    let now = Tree::look(&options.home);
    let sources = provenance::sentences(&options.tree, &now, options.built);
    lines.extend(sources.iter().map(|line| format!("- {line}")));
    lines.join("\n")
}

fn core(core: Option<usize>) -> String {
    core.map_or("not pinned".to_string(), |core| core.to_string())
}

fn processor() -> String {
    // Not available_parallelism: the runner itself is pinned to one core.
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cores = text
        .lines()
        .filter(|line| line.starts_with("processor"))
        .count();
    let model = first_word_line("/proc/cpuinfo", "model name");
    format!("{cores} x {}", model.trim_start_matches([':', ' ', '\t']))
}

fn read(path: &str) -> String {
    fs::read_to_string(path)
        .unwrap_or_default()
        .trim()
        .to_string()
}

fn first_word_line(path: &str, key: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(key))
        .unwrap_or("unknown");
    line.trim().trim_matches('"').to_string()
}

fn output(program: &str, args: &[&str]) -> String {
    match Command::new(program).args(args).output() {
        Ok(out) => String::from_utf8_lossy(&out.stdout).trim().to_string(),
        Err(_) => "not there".to_string(),
    }
}

fn broker_version(program: &str) -> String {
    output(program, &["-h"])
        .lines()
        .next()
        .unwrap_or("unknown")
        .to_string()
}

/// Today as YYYY-MM-DD in UTC, from the days since the epoch.
pub fn date(unix_ms: u64) -> String {
    // Civil-from-days: years begin in March, so that the leap day comes last.
    let days = unix_ms as i64 / 86_400_000 + 719_468;
    let era = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let in_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let day = in_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    format!("{:04}-{month:02}-{day:02}", year + era * 400 + carry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_around_leap_days() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(951_782_400_000), "2000-02-29");
        assert_eq!(date(951_868_800_000), "2000-03-01");
        assert_eq!(date(1_767_225_599_000), "2025-12-31");
    }
}
