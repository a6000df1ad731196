//! The runner as a program: with a pretending engine all proofs hold, and when the engine loses
//! messages the run fails and says so.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

fn runner() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_iotrunner"))
}

/// A script that makes the runner its own generator, so the test needs no second build.
fn generator(folder: &Path) -> PathBuf {
    let path = folder.join("mqttgen");
    let text = format!("#!/bin/sh\nexec '{}' mqttgen \"$@\"\n", runner().display());
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("iotrunner-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// One after the other: side by side they would be late for each other's windows.
static ONE: Mutex<()> = Mutex::new(());

fn smoke(folder: &Path, lose: &str, words: &[&str]) -> Output {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let fake = runner().parent().unwrap().join("examples/fake_kuiperd");
    Command::new(runner())
        .args([
            "--smoke", "--modes", "direct", "--cgroup", "off", "--engine",
        ])
        .arg(format!("rekuiper={}", fake.display()))
        .arg("--mqttgen")
        .arg(generator(folder))
        .args(["--work".as_ref(), folder.as_os_str()])
        .args(["--out".as_ref(), folder.join("out").as_os_str()])
        .args(words)
        .env("FAKE_LOSE", lose)
        .output()
        .unwrap()
}

#[test]
fn an_engine_that_keeps_everything_passes_all_five() {
    let folder = folder("right");
    let out = smoke(&folder, "0", &[]);
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(
        out.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&out.stderr)
    );
    assert_eq!(text.matches(" sustained").count(), 5, "{text}");
    let read = |name: &str| std::fs::read_to_string(folder.join("out").join(name)).unwrap();
    assert_eq!(read("proofs.md").matches("exact: ").count(), 5);
    assert!(read("raw.csv").lines().count() > 5);
    assert!(read("rekuiper-w2.svg").contains("<polyline"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn an_engine_that_loses_messages_fails_with_the_count() {
    let folder = folder("lossy");
    let out = smoke(&folder, "1000", &["--workloads", "w1,w2,w3"]);
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(!out.status.success(), "{text}");
    assert_eq!(text.matches(" failed proof NOT exact").count(), 3, "{text}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn two_streams_are_proven_together_and_a_lossy_engine_does_not_scale() {
    let folder = folder("multicore");
    let out = smoke(&folder, "0", &["--suite", "multicore"]);
    let text = String::from_utf8_lossy(&out.stdout);
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{text}{errors}");
    assert_eq!(text.matches(" sustained").count(), 6, "{text}");
    let read = |name: &str| std::fs::read_to_string(folder.join("out").join(name)).unwrap();
    assert!(read("figures.md").contains("| W1 |"));
    assert!(read("results.json").contains("\"sha256\""));
    let out = smoke(&folder, "1000", &["--suite", "multicore"]);
    assert!(!out.status.success());
    assert!(read("figures.md").contains("NOT held"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_record_of_a_tree_with_changes_says_so() {
    let folder = folder("growth");
    let out = smoke(&folder, "0", &["--suite", "growth", "--workloads", "w1"]);
    assert!(out.status.success());
    let readme = std::fs::read_to_string(folder.join("out/README.md")).unwrap();
    assert!(readme.contains("tree at the start: "), "{readme}");
    assert!(readme.contains("NOT built by this run"), "{readme}");
    assert!(readme.contains("SHA-256 "), "{readme}");
    std::fs::remove_dir_all(&folder).unwrap();
}
