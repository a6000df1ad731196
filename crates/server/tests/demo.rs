//! `kuiperd demo` as a user runs it, in small: its closing proof must hold.

use std::process::{Command, Output, Stdio};

fn demo(flags: &[&str], temporary: &std::path::Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kuiperd"));
    command.arg("demo").args(flags).env("TMPDIR", temporary).stdin(Stdio::null());
    command
}

fn folder(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("rekuiper-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// What every run ends with, however it was ended.
fn holds(output: &Output, temporary: &std::path::Path) -> String {
    let said = String::from_utf8(output.stdout.clone()).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    assert!(!said.contains('\x1b'), "no escape codes where there is no terminal");
    assert_eq!(said.matches("proof holds: ").count(), 3, "{said}\n{errors}");
    assert!(said.contains("The proof holds."), "{said}");
    let left = std::fs::read_dir(temporary).unwrap().count();
    assert_eq!(left, 0, "the temporary folder is gone");
    std::fs::remove_dir(temporary).unwrap();
    said
}

#[test]
fn three_seconds_and_all_is_proven() {
    let temporary = folder("demo-three");
    let flags = ["--seconds", "3", "--rate", "2000", "--devices", "200"];
    let output = demo(&flags, &temporary).output().unwrap();
    let said = holds(&output, &temporary);
    // three seconds of the schedule; a slow machine may be a little late with the last messages
    let line = said.lines().find(|l| l.contains("messages sent")).unwrap();
    let number = line.chars().take_while(|c| *c != 'm').filter(char::is_ascii_digit);
    let sent: u64 = number.collect::<String>().parse().unwrap();
    assert!((4_000..8_000).contains(&sent), "{line}");
    assert!(said.contains("200 of 200 devices") && said.contains("curl -s http://127.0.0.1:"));
    assert!(said.contains("hot: {\"id\":") && said.contains("by_device: {\"device\":\"dev-"));
}

#[test]
fn an_interrupt_ends_it_in_good_order() {
    let temporary = folder("demo-interrupt");
    let mut command = demo(&["--rate", "500", "--devices", "20"], &temporary);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(2));
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    holds(&child.wait_with_output().unwrap(), &temporary);
}

#[test]
fn what_is_asked_wrongly_is_said() {
    let output = demo(&["--rate", "none"], &std::env::temp_dir()).output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("must be a whole number from 1 to"), "{said}");
}
