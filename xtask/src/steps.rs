//! All proofs, one after the other, each with its time. The first that fails ends the run.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

struct Step {
    name: &'static str,
    args: &'static [&'static str],
    /// Below the root.
    folder: &'static str,
    /// Left out by `--quick`.
    slow: bool,
}

const STEPS: &[Step] = &[
    Step { name: "lints", args: &LINTS, folder: "", slow: false },
    Step { name: "tests", args: &["test", "--workspace"], folder: "", slow: false },
    Step { name: "generated pages", args: &PAGES, folder: "", slow: false },
    Step { name: "programs", args: &PROGRAMS, folder: "", slow: false },
    Step { name: "command line cases", args: &CLI_CASES, folder: "", slow: false },
    Step { name: "cost of a message", args: &GUARD, folder: "", slow: true },
    Step { name: "workloads in small", args: &SMOKE, folder: BENCHMARK, slow: true },
];

const LINTS: [&str; 6] = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
const PAGES: [&str; 3] = ["xtask", "codegen", "--check"];
const BENCHMARK: &str = "test/benchmark/iiot-mqtt";
const PROGRAMS: [&str; 5] = ["build", "--bin", "kuiperd", "--bin", "kuiper"];
const CLI_CASES: [&str; 5] = ["test", "-p", "rekuiper-cli", "--test", "cases"];
const GUARD: [&str; 6] = ["run", "--release", "-p", "in-process", "--", "guard"];
const SMOKE: [&str; 6] = ["run", "--release", "-p", "iotrunner", "--", "--smoke"];

pub fn all(root: &Path, quick: bool) -> Result<(), String> {
    let mut times = Vec::new();
    for step in STEPS.iter().filter(|s| !(quick && s.slow)) {
        println!("== {}: cargo {}", step.name, step.args.join(" "));
        let began = Instant::now();
        run(root, step)?;
        times.push((step.name, began.elapsed().as_secs()));
    }
    println!("== all good");
    for (name, seconds) in times {
        println!("{seconds:5} s  {name}");
    }
    Ok(())
}

fn run(root: &Path, step: &Step) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(step.args)
        .current_dir(root.join(step.folder))
        // for the cases of the tool: the server that the step before has built
        .env("KUIPERD", target(root).join("debug").join("kuiperd"))
        .status()
        .map_err(|e| format!("{}: cargo: {e}", step.name))?;
    if status.success() { Ok(()) } else { Err(format!("{}: {status}", step.name)) }
}

fn target(root: &Path) -> std::path::PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_leaves_out_only_what_needs_a_release_build() {
        for step in STEPS {
            assert_eq!(step.slow, step.args.contains(&"--release"), "{}", step.name);
        }
    }
}
