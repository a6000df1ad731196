//! `parallel-rules [p1|p2|p3|idle ...] [--engine PATH] [--rules N] [--rate N] [--seconds N]
//! [--core N] [--out FOLDER]`: runs the cases and prints what was proven.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use parallel_rules::case::Case;
use parallel_rules::{idle, load, record};

struct Options {
    cases: Vec<String>,
    engine: PathBuf,
    rules: Option<u64>,
    rate: Option<u64>,
    seconds: u64,
    core: Option<usize>,
    connections: usize,
    out: Option<PathBuf>,
}

const USAGE: &str = "parallel-rules [p1 p2 p3 idle] [--engine target/release/kuiperd] [--rules N] \
                     [--rate N] [--seconds 10] [--core N] [--connections 16] [--out FOLDER]";

fn main() -> ExitCode {
    match options().and_then(|o| run(&o)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("parallel-rules: {why}");
            ExitCode::FAILURE
        }
    }
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        cases: Vec::new(),
        engine: PathBuf::from("target/release/kuiperd"),
        rules: None,
        rate: None,
        seconds: 10,
        core: None,
        connections: 16,
        out: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let Some(key) = word.strip_prefix("--") else {
            options.cases.push(word);
            continue;
        };
        let value = words.next().ok_or(format!("--{key} needs a value\n{USAGE}"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("--{key} {value}: no number"));
        match key {
            "engine" => options.engine = PathBuf::from(&value),
            "rules" => options.rules = Some(number()?),
            "rate" => options.rate = Some(number()?),
            "seconds" => options.seconds = number()?.max(1),
            "core" => options.core = Some(number()? as usize),
            "connections" => options.connections = number()?.max(1) as usize,
            "out" => options.out = Some(PathBuf::from(&value)),
            _ => return Err(format!("unknown option --{key}\n{USAGE}")),
        }
    }
    if options.cases.is_empty() {
        options.cases = ["p1", "p2", "p3", "idle"].map(str::to_owned).to_vec();
    }
    options.engine = fs::canonicalize(&options.engine)
        .map_err(|e| format!("engine {}: {e}; build it first", options.engine.display()))?;
    Ok(options)
}

fn run(options: &Options) -> Result<bool, String> {
    let mut good = true;
    let mut text = String::new();
    for case in &options.cases {
        let folder = std::env::temp_dir().join(format!("parallel-{case}-{}", std::process::id()));
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let line = one(options, case, &folder, &mut good);
        // what is evidence was read; the rest is in the way
        let _ = fs::remove_dir_all(&folder);
        let line = line?;
        print!("{line}");
        text.push_str(&line);
    }
    if let Some(out) = &options.out {
        fs::create_dir_all(out).map_err(|e| format!("{}: {e}", out.display()))?;
        let path = out.join("summary.txt");
        fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(good)
}

fn one(
    options: &Options,
    case: &str,
    folder: &std::path::Path,
    good: &mut bool,
) -> Result<String, String> {
    if case == "idle" {
        let rules = options.rules.unwrap_or(10_000);
        let found =
            idle::run(&options.engine, options.core, folder, rules, options.connections)?;
        return Ok(record::idle_summary(&found));
    }
    let case = Case::parse(case)?;
    let plan = load::Plan {
        case,
        rules: options.rules.unwrap_or(case.default_rules()),
        rate: options.rate.unwrap_or(case.default_rate()),
        seconds: options.seconds,
        engine: options.engine.clone(),
        core: options.core,
        connections: options.connections,
    };
    let outcome = load::run(&plan, folder)?;
    *good &= outcome.proof.holds();
    if let Some(out) = &options.out {
        fs::create_dir_all(out).map_err(|e| format!("{}: {e}", out.display()))?;
        record::raw(out, &plan, &outcome)?;
    }
    Ok(record::summary(&plan, &outcome))
}
