//! `in-process guard`: fails when W1 costs 15 % more than the baseline, in units of the reference
//! loop. `in-process bless` keeps what it costs now as the baseline.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use in_process::{chain, floor, payload};

const RECORDS: usize = 100_000;
/// The best of so many rounds counts, of engine and reference each: disturbance only ever adds.
const ROUNDS: usize = 25;
const ALLOWED: f64 = 1.15;
/// A verdict against the engine is given only after so many series have agreed.
const SERIES: usize = 4;

fn main() -> ExitCode {
    match run(&std::env::args().nth(1).unwrap_or_default()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("in-process: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(verb: &str) -> Result<bool, String> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/baseline.json"));
    let payloads: Vec<Vec<u8>> = (0..RECORDS).map(|i| payload::json(i).into_bytes()).collect();
    prove(&payloads)?;
    match verb {
        "bless" => {
            let mut ratios: Vec<f64> =
                (0..SERIES).map(|_| ratio(&payloads)).collect::<Result<_, _>>()?;
            ratios.sort_by(f64::total_cmp);
            let text = serde_json::json!({ "w1_over_floor": round(ratios[SERIES / 2]) });
            std::fs::write(&path, format!("{text}\n")).map_err(|e| e.to_string())?;
            Ok(true)
        }
        "guard" | "" => guard(&payloads, &path),
        other => Err(format!("unknown command {other}: expected guard or bless")),
    }
}

fn guard(payloads: &[Vec<u8>], path: &PathBuf) -> Result<bool, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let kept: serde_json::Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let baseline = kept["w1_over_floor"].as_f64().ok_or("baseline.json holds no w1_over_floor")?;
    let limit = baseline * ALLOWED;
    let mut best = f64::MAX;
    for _ in 0..SERIES {
        best = best.min(ratio(payloads)?);
        if best <= limit {
            println!("W1 is {best:.3} times the floor; the baseline is {baseline}: held");
            return Ok(true);
        }
    }
    println!(
        "W1 is {best:.3} times the floor, the baseline is {baseline}: more than 15 % slower. \
         Profile it (docs/performance.md), or, if the price is right, run `in-process bless`"
    );
    Ok(false)
}

/// Engine and reference give the same lines.
fn prove(payloads: &[Vec<u8>]) -> Result<(), String> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    chain::run(chain::batches(payloads), &mut ours)?;
    floor::run(payloads, &mut theirs);
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

/// Time of the engine in units of the reference loop.
fn ratio(payloads: &[Vec<u8>]) -> Result<f64, String> {
    let (mut engine, mut reference) = (f64::MAX, f64::MAX);
    let mut out = Vec::with_capacity(RECORDS * 96);
    for _ in 0..ROUNDS {
        out.clear();
        let start = Instant::now();
        floor::run(payloads, &mut out);
        reference = reference.min(start.elapsed().as_secs_f64());
        out.clear();
        engine = engine.min(chain::run(chain::batches(payloads), &mut out)?);
    }
    let ns = |seconds: f64| seconds * 1e9 / RECORDS as f64;
    println!("engine {:.1} ns, reference loop {:.1} ns a message", ns(engine), ns(reference));
    Ok(engine / reference)
}

fn round(ratio: f64) -> f64 {
    (ratio * 1_000.0).round() / 1_000.0
}
