//! The command line, and what is worked out from it.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, Parser, Subcommand};
use mqttgen::workload::Workload;

use crate::engine::EngineSpec;
use crate::spec;
use crate::step::Mode;

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
    /// rekuiper[=PATH], ekuiper=PATH, telegraf=PATH or bare=builtin; may be given several times
    #[arg(long = "engine", default_values = ["rekuiper", "bare=builtin"])]
    pub engines: Vec<String>,
    #[arg(long, value_delimiter = ',', default_value = "w1,w2,w3,w4,w5")]
    pub workloads: Vec<String>,
    #[arg(long, value_delimiter = ',', default_value = "broker,direct")]
    pub modes: Vec<String>,
    /// The ladder of the broker mode, messages a second; climbing ends at the first step not held
    #[arg(long, value_delimiter = ',', default_value = "5000,20000,50000,100000")]
    pub rates: Vec<u64>,
    /// Rates of the direct mode; 0 is as fast as the engine takes them
    #[arg(long, value_delimiter = ',', default_value = "0")]
    pub direct_rates: Vec<u64>,
    /// Length of the sending in a step
    #[arg(long, default_value_t = 30.0)]
    pub seconds: f64,
    /// Small steps with short windows and the real proofs, for CI
    #[arg(long)]
    pub smoke: bool,
    /// Last part of the evidence folder's name
    #[arg(long, default_value = "run")]
    pub label: String,
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
    pub rates: Vec<u64>,
    pub direct_rates: Vec<u64>,
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
}

impl Options {
    pub fn from_args(args: RunArgs) -> Result<Options, String> {
        let home = spec::home()?;
        let mut engines = Vec::new();
        for text in &args.engines {
            let mut engine = EngineSpec::parse(text)?;
            if engine.name == "rekuiper" && engine.path.as_os_str().is_empty() {
                engine.path = program(&home, "kuiperd", "rekuiper-server", !args.no_build)?;
            }
            engine.path = absolute(&engine)?;
            engines.push(engine);
        }
        let mqttgen = match args.mqttgen {
            Some(path) => path,
            None => program(&home, "mqttgen", "mqttgen", !args.no_build)?,
        };
        let workloads = args
            .workloads
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
        let seconds = if args.smoke { 1.0 } else { args.seconds };
        if !(0.1..=3_600.0).contains(&seconds) {
            return Err(format!("--seconds {seconds}: expected 0.1 to 3600"));
        }
        Ok(Options {
            engines,
            workloads,
            modes,
            rates: if args.smoke { vec![12_000] } else { args.rates },
            direct_rates: if args.smoke {
                vec![12_000]
            } else {
                args.direct_rates
            },
            seconds,
            smoke: args.smoke,
            label: args.label,
            out: args.out,
            work: args.work.unwrap_or_else(std::env::temp_dir),
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
        })
    }
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
