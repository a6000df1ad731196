//! `in-process guard`: fails when W1 costs 15 % more instructions than the baseline, in units of
//! the reference loop. `in-process bless` keeps what it costs now as the baseline.
//!
//! Instructions are counted by callgrind, on a simulated processor: other work on the machine, its
//! clock and its caches do not change them. `in-process work ...` is what is counted.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use in_process::{chain, floor, payload};

/// Messages of the short run; the long one has twice as many. The difference of the two is free of
/// what it costs to start.
const RECORDS: usize = 20_480;
const ALLOWED: f64 = 1.15;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("in-process: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Result<bool, String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/baseline.json"));
    match words[..] {
        [] | ["guard"] => guard(&path),
        ["bless"] => {
            let kept = serde_json::json!({ "w1_over_floor": round(ratio()?) });
            std::fs::write(&path, format!("{kept}\n")).map_err(|e| e.to_string())?;
            Ok(true)
        }
        ["work", what, records] => {
            work(
                what,
                records.parse().map_err(|e| format!("{records}: {e}"))?,
            )?;
            Ok(true)
        }
        _ => Err("expected guard or bless".into()),
    }
}

fn guard(path: &PathBuf) -> Result<bool, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let kept: serde_json::Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let baseline = kept["w1_over_floor"]
        .as_f64()
        .ok_or("baseline.json holds no w1_over_floor")?;
    let now = ratio()?;
    let held = now <= baseline * ALLOWED;
    println!("W1 takes {now:.3} times the instructions of the floor; the baseline is {baseline}");
    if !held {
        println!(
            "that is more than 15 % above it. Profile it (docs/performance.md), or, if the price \
             is right, run `in-process bless`"
        );
    }
    Ok(held)
}

/// Instructions a message in the engine, in units of the reference loop.
fn ratio() -> Result<f64, String> {
    prove()?;
    let made = slope("messages")?;
    let (engine, reference) = (slope("engine")? - made, slope("floor")? - made);
    println!("instructions a message: engine {engine:.0}, reference loop {reference:.0}");
    Ok(engine / reference)
}

/// Instructions that one more message takes.
fn slope(what: &str) -> Result<f64, String> {
    let (short, long) = (
        instructions(what, RECORDS)?,
        instructions(what, 2 * RECORDS)?,
    );
    Ok((long as f64 - short as f64) / RECORDS as f64)
}

fn instructions(what: &str, records: usize) -> Result<u64, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["work", what, &records.to_string()])
        .output()
        .map_err(|e| format!("valgrind: {e}; is it installed?"))?;
    let told = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("valgrind: {}: {told}", output.status));
    }
    let collected = told.lines().find_map(|line| line.split_once("Collected :"));
    let count = collected.and_then(|(_, count)| count.trim().parse().ok());
    count.ok_or_else(|| format!("valgrind told no count: {told}"))
}

/// What is counted: the messages alone, or with one of the two that run on them.
fn work(what: &str, records: usize) -> Result<(), String> {
    let payloads: Vec<Vec<u8>> = (0..records)
        .map(|i| payload::json(i).into_bytes())
        .collect();
    let batches = chain::batches(&payloads);
    let mut out = Vec::with_capacity(records * 96);
    match what {
        "messages" => {}
        "floor" => floor::run(&payloads, &mut out),
        "engine" => chain::run(batches, &mut out)?,
        other => return Err(format!("{other}: expected messages, floor or engine")),
    }
    // so that nothing of it is found to be in vain
    std::hint::black_box(out);
    Ok(())
}

/// Engine and reference give the same lines.
fn prove() -> Result<(), String> {
    let payloads: Vec<Vec<u8>> = (0..RECORDS)
        .map(|i| payload::json(i).into_bytes())
        .collect();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    chain::run(chain::batches(&payloads), &mut ours)?;
    floor::run(&payloads, &mut theirs);
    let lines = |bytes: &[u8]| bytes.split(|b| *b == b'\n').count();
    match ours == theirs {
        true => Ok(()),
        false => Err(format!(
            "the engine gives {} lines and the reference loop {}, or other ones",
            lines(&ours),
            lines(&theirs)
        )),
    }
}

fn round(ratio: f64) -> f64 {
    (ratio * 1_000.0).round() / 1_000.0
}
