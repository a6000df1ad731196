//! The command line, and what is worked out from it.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, Parser, Subcommand};
use mqttgen::workload::Workload;

use crate::engine::EngineSpec;
use crate::provenance::{self, Copies, Tree};
use crate::spec;
use crate::step::Mode;
use crate::suite::Suite;

/// Every engine gets as much memory.
pub const MEMORY_BYTES: u64 = 1 << 30;

#[derive(Parser)]
#[command(about = "Runs the MQTT workloads W1 to W5 and proves the outcome")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Verb>,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Subcommand)]
pub enum Verb {
    /// The single-threaded reference program for W1; started by the runner itself
    #[command(hide = true)]
    Bare {
        #[arg(long)]
        port: u16,
        #[arg(long)]
        sink: PathBuf,
        #[arg(long, default_value_t = 0)]
        drop_every: u64,
        #[arg(long)]
        prompt: bool,
    },
    /// Fills the tables of a page from the newest folders of runs
    Page {
        #[arg(default_value = "docs/performance.md")]
        page: PathBuf,
        /// Only say whether the page is as the folders have it
        #[arg(long)]
        check: bool,
    },
    /// This program as its own generator, for the tests
    #[command(hide = true, disable_help_flag = true)]
    Mqttgen {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
}

#[derive(Args)]
pub struct RunArgs {
    /// A set of steps with its own rates and lengths; the other options change it
    #[arg(long)]
    pub suite: Option<Suite>,
    /// rekuiper[=PATH], ekuiper=PATH, telegraf=PATH (peers: configuration in peers/) or
    /// bare=builtin; may be given several times [default: rekuiper and bare]
    #[arg(long = "engine")]
    pub engines: Vec<String>,
    /// [default: w1,w2,w3,w4,w5, or what the suite is about]
    #[arg(long, value_delimiter = ',')]
    pub workloads: Vec<String>,
    #[arg(long, value_delimiter = ',', default_value = "broker,direct")]
    pub modes: Vec<String>,
    /// The ladder of the broker mode, messages a second; climbing ends at the first step not held
    /// [default: 5000,20000,50000,100000; suite ladder: further]
    #[arg(long, value_delimiter = ',')]
    pub rates: Option<Vec<u64>>,
    /// Rates of the direct mode; 0 is as fast as the engine takes them [default: 0]
    #[arg(long, value_delimiter = ',')]
    pub direct_rates: Option<Vec<u64>>,
    /// Suite sustained: the ladder's folder to take the broker rates from [default: the newest]
    #[arg(long)]
    pub from: Option<PathBuf>,
    /// Length of the sending in a step [default: 30, or the suite's]
    #[arg(long)]
    pub seconds: Option<f64>,
    /// Measure although files are changed and not committed; the record says so
    #[arg(long)]
    pub allow_dirty: bool,
    /// Small steps with short windows and the real proofs, for CI
    #[arg(long)]
    pub smoke: bool,
    /// Last part of the evidence folder's name [default: the suite's name, or run]
    #[arg(long)]
    pub label: Option<String>,
    /// The evidence folder; default runs/DATE-LABEL (smoke: none is written)
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Where sinks and configurations lie while a step runs
    #[arg(long)]
    pub work: Option<PathBuf>,
    /// Keep sinks, logs and configurations of the steps
    #[arg(long)]
    pub keep: bool,
    #[arg(long)]
    pub engine_core: Option<usize>,
    /// Core of broker, generator and runner
    #[arg(long)]
    pub load_core: Option<usize>,
    #[arg(long, default_value = "mosquitto")]
    pub broker: String,
    /// Take kuiperd and mqttgen as they lie beside this program
    #[arg(long)]
    pub no_build: bool,
    /// The mqttgen program; default: the one beside this, built first
    #[arg(long)]
    pub mqttgen: Option<PathBuf>,
    /// A generator later than this voids the step, in ms
    #[arg(long, default_value_t = 200.0)]
    pub max_lag_ms: f64,
    /// auto or off
    #[arg(long, default_value = "auto")]
    pub cgroup: String,
}

/// What a run needs, checked.
pub struct Options {
    pub engines: Vec<EngineSpec>,
    pub workloads: Vec<Workload>,
    pub modes: Vec<Mode>,
    pub suite: Option<Suite>,
    pub rates: Option<Vec<u64>>,
    pub direct_rates: Option<Vec<u64>>,
    pub from: Option<PathBuf>,
    pub seconds: f64,
    pub smoke: bool,
    pub label: String,
    pub out: Option<PathBuf>,
    pub work: PathBuf,
    pub keep: bool,
    pub engine_core: Option<usize>,
    pub load_core: Option<usize>,
    pub broker: String,
    pub mqttgen: PathBuf,
    pub lag_ms_max: f64,
    pub cgroup: bool,
    pub home: PathBuf,
    /// The tree when the run began.
    pub tree: Tree,
    /// Whether the engine of this repository was built by this run.
    pub built: bool,
    /// Holds the copies of the programs until the run is over.
    pub copies: Copies,
}

impl Options {
    pub fn from_args(args: RunArgs) -> Result<Options, String> {
        let home = spec::home()?;
        let tree = Tree::look(&home);
        let keeping = !args.smoke && !args.allow_dirty;
        if keeping && !tree.clean() {
            return Err(format!(
                "a record needs to say which source it is about, but the tree (revision {}) has \
                 changes: {}; commit them, or give --allow-dirty and do not keep the record",
                tree.commit,
                tree.changed.join(", ")
            ));
        }
        let work = args.work.clone().unwrap_or_else(std::env::temp_dir);
        let copies = Copies::folder(&work)?;
        let (engines, built) = engines(&args, &home, &copies)?;
        let mqttgen = match &args.mqttgen {
            Some(path) => path.clone(),
            None => copies.take(&program(&home, "mqttgen", "mqttgen", !args.no_build)?)?,
        };
        let suite = args.suite;
        let names = match (&args.workloads[..], suite) {
            ([], Some(suite)) => suite.workloads().iter().map(|w| w.to_string()).collect(),
            ([], None) => Workload::ALL.map(|w| w.id().to_string()).to_vec(),
            (given, _) => given.to_vec(),
        };
        let workloads = names
            .iter()
            .map(|w| Workload::parse(w))
            .collect::<Result<Vec<_>, _>>()?;
        let modes = args
            .modes
            .iter()
            .map(|m| mode(m))
            .collect::<Result<Vec<_>, _>>()?;
        let (engine_core, load_core) = cores(args.engine_core, args.load_core);
        // Smoke is about the proofs: on a machine with one core it must work too.
        let default = suite.map_or(30.0, Suite::seconds);
        let seconds = if args.smoke {
            1.0
        } else {
            args.seconds.unwrap_or(default)
        };
        if !(0.1..=3_600.0).contains(&seconds) {
            return Err(format!("--seconds {seconds}: expected 0.1 to 3600"));
        }
        Ok(Options {
            engines,
            workloads,
            modes,
            suite,
            rates: if args.smoke {
                Some(vec![12_000])
            } else {
                args.rates
            },
            direct_rates: if args.smoke {
                Some(vec![12_000])
            } else {
                args.direct_rates
            },
            from: args.from,
            seconds,
            smoke: args.smoke,
            label: args
                .label
                .unwrap_or_else(|| suite.map_or("run", Suite::name).to_string()),
            out: args.out,
            work,
            keep: args.keep,
            engine_core,
            load_core,
            broker: args.broker,
            mqttgen,
            // A busy CI machine may be late; with a late generator the proof still counts.
            lag_ms_max: if args.smoke {
                10_000.0
            } else {
                args.max_lag_ms
            },
            cgroup: args.cgroup != "off",
            home,
            tree,
            built,
            copies,
        })
    }
}

/// The engines asked for, each with the hash of its program, and whether ours was built just now.
/// Ours runs from a copy: a build that goes on beside the run would replace it under our hands.
fn engines(
    args: &RunArgs,
    home: &Path,
    copies: &Copies,
) -> Result<(Vec<EngineSpec>, bool), String> {
    let default = args.suite.map_or(Suite::Ladder.engines(), Suite::engines);
    let texts: Vec<&str> = match &args.engines[..] {
        [] => default.to_vec(),
        given => given.iter().map(String::as_str).collect(),
    };
    let mut built = false;
    let mut engines = Vec::new();
    for text in texts {
        let mut engine = EngineSpec::parse(text)?;
        if engine.name == "rekuiper" && engine.path.as_os_str().is_empty() {
            engine.path = program(home, "kuiperd", "rekuiper-server", !args.no_build)?;
            built = !args.no_build;
        }
        engine.path = absolute(&engine)?;
        match engine.name.as_str() {
            "bare" => engine.hash = provenance::hash(&std::env::current_exe().unwrap_or_default())?,
            "rekuiper" => {
                engine.path = copies.take(&engine.path)?;
                engine.hash = provenance::hash(&engine.path)?;
            }
            _ => engine.hash = provenance::hash(&engine.path)?,
        }
        engines.push(engine);
    }
    Ok((engines, built))
}

fn mode(text: &str) -> Result<Mode, String> {
    match text {
        "broker" => Ok(Mode::Broker),
        "direct" => Ok(Mode::Direct),
        _ => Err(format!("unknown mode `{text}`: expected broker or direct")),
    }
}

/// Engine on one core, everything else on another; no pinning where there is only one.
fn cores(engine: Option<usize>, load: Option<usize>) -> (Option<usize>, Option<usize>) {
    let many = std::thread::available_parallelism().is_ok_and(|n| n.get() > 1);
    let choose = |given: Option<usize>, default| given.or(many.then_some(default));
    (choose(engine, 1), choose(load, 0))
}

fn absolute(engine: &EngineSpec) -> Result<PathBuf, String> {
    if engine.name == "bare" {
        return Ok(engine.path.clone());
    }
    engine.path.canonicalize().map_err(|e| {
        format!(
            "--engine {}={}: {e}; is the path right?",
            engine.name,
            engine.path.display()
        )
    })
}

/// A program of this repository, in the folder this one is in. Built first, so that nobody measures
/// what the sources were yesterday; cargo does nothing when it is fresh.
fn program(home: &Path, name: &str, package: &str, build: bool) -> Result<PathBuf, String> {
    let me = std::env::current_exe().map_err(|e| e.to_string())?;
    let folder = me.parent().unwrap_or(Path::new("."));
    let path = folder.join(name);
    if build {
        let release = folder.ends_with("release").then_some("--release");
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
        let status = Command::new(cargo)
            .args(["build", "--quiet", "-p", package])
            .args(release)
            .current_dir(home)
            .status()
            .map_err(|e| format!("cargo cannot be run: {e}; --no-build takes what is there"))?;
        if !status.success() {
            return Err(format!("building {package} failed ({status})"));
        }
    }
    if path.is_file() {
        Ok(path)
    } else {
        Err(format!(
            "no {name} in {}: name it by its path",
            folder.display()
        ))
    }
}
