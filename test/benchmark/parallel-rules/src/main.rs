//! `parallel-rules [p1|p2|p3|idle ...] [--engine PATH] [--rules N] [--rate N] [--seconds N]
//! [--core N] [--record FOLDER]`: runs the cases and prints what was proven.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use iotrunner::provenance::{self, Copies, Tree};
use iotrunner::{children, spec};
use parallel_rules::case::Case;
use parallel_rules::evidence::{self, About};
use parallel_rules::{idle, load, record};

struct Options {
    cases: Vec<String>,
    engine: Option<PathBuf>,
    rules: Option<u64>,
    rate: Option<u64>,
    seconds: u64,
    core: Option<usize>,
    connections: usize,
    record: Option<PathBuf>,
    allow_dirty: bool,
}

const USAGE: &str = "parallel-rules [p1 p2 p3 idle | --all] [--engine PATH] [--rules N] [--rate N] \
                     [--seconds 10] [--core N] [--connections 16] [--record FOLDER] \
                     [--allow-dirty]\n\
                     Without --engine kuiperd is built and taken. --record writes an evidence \
                     folder; it pins the engine to core 1 and wants a clean tree.";

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
        engine: None,
        rules: None,
        rate: None,
        seconds: 10,
        core: None,
        connections: 16,
        record: None,
        allow_dirty: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let Some(key) = word.strip_prefix("--") else {
            options.cases.push(word);
            continue;
        };
        match key {
            "all" => continue,
            "allow-dirty" => {
                options.allow_dirty = true;
                continue;
            }
            "help" => return Err(USAGE.to_owned()),
            _ => {}
        }
        let value = words.next().ok_or(format!("--{key} needs a value\n{USAGE}"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("--{key} {value}: no number"));
        match key {
            "engine" => options.engine = Some(PathBuf::from(&value)),
            "rules" => options.rules = Some(number()?),
            "rate" => options.rate = Some(number()?),
            "seconds" => options.seconds = number()?.max(1),
            "core" => options.core = Some(number()? as usize),
            "connections" => options.connections = number()?.max(1) as usize,
            "record" | "out" => options.record = Some(PathBuf::from(&value)),
            _ => return Err(format!("unknown option --{key}\n{USAGE}")),
        }
    }
    if options.cases.is_empty() {
        options.cases = ["p1", "p2", "p3", "idle"].map(str::to_owned).to_vec();
    }
    let many = std::thread::available_parallelism().is_ok_and(|n| n.get() > 1);
    if options.record.is_some() && many {
        options.core = options.core.or(Some(1));
    }
    Ok(options)
}

/// The engine's program: the one given, or that of this repository, built now.
fn engine(options: &Options, home: &Path) -> Result<PathBuf, String> {
    if let Some(path) = &options.engine {
        return fs::canonicalize(path).map_err(|e| format!("engine {}: {e}", path.display()));
    }
    let me = std::env::current_exe().map_err(|e| e.to_string())?;
    let folder = me.parent().unwrap_or(Path::new("."));
    let release = folder.ends_with("release").then_some("--release");
    let status = Command::new("cargo")
        .args(["build", "--quiet", "-p", "rekuiper-server"])
        .args(release)
        .current_dir(home)
        .status()
        .map_err(|e| format!("cargo cannot be run: {e}; name the engine with --engine"))?;
    let path = folder.join("kuiperd");
    if !status.success() || !path.is_file() {
        return Err(format!("building kuiperd: {status}"));
    }
    Ok(path)
}

fn run(options: &Options) -> Result<bool, String> {
    let home = spec::home()?;
    let tree = Tree::look(&home);
    if options.record.is_some() && !options.allow_dirty && !tree.clean() {
        return Err(format!(
            "a record needs to say which source it is about, but the tree has changes: {}; commit \
             them, or give --allow-dirty and do not keep the record",
            tree.changed.join(", ")
        ));
    }
    // A copy: a build beside this run would put another engine under it.
    let copies = Copies::folder(&std::env::temp_dir())?;
    let engine = copies.take(&engine(options, &home)?)?;
    let hash = provenance::hash(&engine)?;
    if options.core == Some(1) {
        children::pin_self(0)?;
    }
    let mut good = true;
    let (mut text, mut rows) = (String::new(), String::new());
    for case in &options.cases {
        let folder = std::env::temp_dir().join(format!("parallel-{case}-{}", std::process::id()));
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let lines = one(options, &engine, case, &folder, &mut good);
        // what is evidence was read; the rest is in the way
        let _ = fs::remove_dir_all(&folder);
        let (line, row) = lines?;
        if provenance::hash(&engine)? != hash {
            return Err("the engine's program was replaced during the run".into());
        }
        print!("{line}");
        text.push_str(&line);
        rows.push_str(&row);
        if let Some(out) = &options.record {
            let words: Vec<String> = std::env::args().skip(1).collect();
            let about = About {
                command: format!("parallel-rules {}", words.join(" ")),
                home: &home,
                tree: &tree,
                hash: &hash,
                built: options.engine.is_none(),
            };
            evidence::write(out, &about, &rows, &text)?;
        }
    }
    Ok(good)
}

/// A case's summary and its row of the table.
fn one(
    options: &Options,
    engine: &Path,
    case: &str,
    folder: &Path,
    good: &mut bool,
) -> Result<(String, String), String> {
    if case == "idle" {
        let rules = options.rules.unwrap_or(10_000);
        let found = idle::run(engine, options.core, folder, rules, options.connections)?;
        return Ok((record::idle_summary(&found), evidence::idle_row(&found)));
    }
    let case = Case::parse(case)?;
    let plan = load::Plan {
        case,
        rules: options.rules.unwrap_or(case.default_rules()),
        rate: options.rate.unwrap_or(case.default_rate()),
        seconds: options.seconds,
        engine: engine.to_owned(),
        core: options.core,
        connections: options.connections,
    };
    let outcome = load::run(&plan, folder)?;
    *good &= outcome.proof.holds();
    if let Some(out) = &options.record {
        fs::create_dir_all(out).map_err(|e| format!("{}: {e}", out.display()))?;
        record::raw(out, &plan, &outcome)?;
    }
    Ok((record::summary(&plan, &outcome), evidence::row(&plan, &outcome)))
}
