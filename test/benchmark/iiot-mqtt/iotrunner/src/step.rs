//! One step: an engine, a workload, a way to feed it, a rate. Starts everything afresh, measures,
//! proves, judges.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mqttgen::report::unix_ms;

use crate::broker::Broker;
use crate::cgroup::Group;
use crate::check::{self, Proof};
use crate::engine::{self, EngineSpec, Setting};
use crate::generator::{Done, Generator};
use crate::judge::{self, Evidence, Verdict};
use crate::latency::{self, Follower, Latency};
use crate::meter::{Meter, Stage, read};
use crate::options::{MEMORY_BYTES, Options};
use crate::provenance;
use crate::pulse;
use crate::sample::{self, Second};
use crate::spec::Spec;
use crate::warmup;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Broker,
    Direct,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Mode::Broker => "broker",
            Mode::Direct => "direct",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Step {
    pub engine: EngineSpec,
    pub spec: Spec,
    pub mode: Mode,
    /// Messages a second; 0 = as fast as the engine takes them.
    pub rate: u64,
    pub extra: Extra,
}

/// What only some suites ask of a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Extra {
    #[default]
    None,
    /// Follow the sink and time each line.
    Latency,
    /// Two streams of a connection each. Several rounds, because machines are noisy.
    Streams { on: Cores, round: usize },
}

/// What the engine has for two streams. A thread gets at most half a core where both cores are
/// used, as if they were half as fast: peers and broker need the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cores {
    /// One core, no limit: the control. It has what two halves have.
    Whole,
    Half,
    TwoHalves,
}

impl Cores {
    fn name(self) -> &'static str {
        match self {
            Cores::Whole => "1x1",
            Cores::Half => "1x0.5",
            Cores::TwoHalves => "2x0.5",
        }
    }
}

impl Extra {
    fn streams(&self) -> usize {
        if matches!(self, Extra::Streams { .. }) {
            2
        } else {
            1
        }
    }

    /// Most CPU a thread of the engine may have, in cores.
    fn share(&self) -> Option<f64> {
        match self {
            Extra::Streams { on, .. } if *on != Cores::Whole => Some(0.5),
            _ => None,
        }
    }
}

impl Step {
    pub fn label(&self) -> String {
        let rate = if self.rate == 0 {
            "max".to_string()
        } else {
            self.rate.to_string()
        };
        let id = self.spec.workload.id();
        let extra = match self.extra {
            Extra::Streams { on, round } => format!("-{}-{round}", on.name()),
            _ => String::new(),
        };
        format!(
            "{}-{id}-{}-{rate}{extra}",
            self.engine.name,
            self.mode.name()
        )
    }
}

pub struct Outcome {
    pub step: Step,
    pub done: Done,
    pub proof: Proof,
    pub verdict: Verdict,
    pub seconds: Vec<Second>,
    pub cpu_us_per_message: f64,
    pub idle_anon_kib: u64,
    pub close_late_ms: u64,
    pub bytes_at_stop: u64,
    pub broker_dropped: u64,
    pub notes: Vec<String>,
    pub status: String,
    pub latency: Option<Latency>,
    /// What a message of the reference takes on the engine's core before and after, in ns.
    pub pulse_ns: [f64; 2],
    /// CPU seconds of each thread of the engine while sending, the busiest first.
    pub threads_s: Vec<f64>,
}

impl Outcome {
    pub fn rate_reached(&self) -> f64 {
        self.done.sent as f64 / self.done.seconds.max(1e-9)
    }

    pub fn anon_max_kib(&self) -> u64 {
        self.seconds
            .iter()
            .map(|s| s.engine_anon_kib)
            .max()
            .unwrap_or(0)
    }
}

/// Runs a step in a folder of its own, which is removed again unless sinks are kept.
pub fn run(options: &Options, step: &Step) -> Result<Outcome, String> {
    let work = options
        .work
        .join(format!("iotrunner-{}-{}", std::process::id(), step.label()));
    provenance::same_engine(&step.engine)?;
    fs::create_dir_all(&work).map_err(|e| format!("{}: {e}", work.display()))?;
    let outcome = run_in(options, step, &work);
    if !options.keep {
        let _ = fs::remove_dir_all(&work);
    }
    outcome
}

fn run_in(options: &Options, step: &Step, work: &Path) -> Result<Outcome, String> {
    let mut stage = raise(options, step, work)?;
    let window = step.spec.window;
    warmup::run(
        &mut stage.generator,
        stage.engine.as_mut(),
        window,
        &stage.sinks,
    )?;
    let mut notes = stage.group.notes.clone();
    let follower = match step.extra {
        Extra::Latency => {
            // its threads that send are started later, and stand where it stands
            let generator = stage.generator.pid().to_string();
            notes.push(latency::first_in_line("generator", &generator));
            Some(Follower::start(&stage.sinks[0])?)
        }
        _ => None,
    };
    let pulse = || pulse::take(options.engine_core).map_err(|e| format!("the core's pulse: {e}"));
    let pulse_before = pulse()?;
    let mut meter = Meter::new(&stage);
    let idle_anon_kib = meter.before.engine_anon_kib;
    let start_cpu = meter.before.engine_cpu_ns;
    let threads = sample::threads_cpu_ns(stage.engine.pid());
    stage.generator.tell("start")?;
    let done = send(&mut stage, &mut meter, options.seconds)?;
    let threads_s = busiest(&threads, &sample::threads_cpu_ns(stage.engine.pid()));
    let due = window.due(done.end_ms);
    let last_growth = drain(&mut stage, &mut meter, due, options)?;
    let cpu = read(&stage).engine_cpu_ns.saturating_sub(start_cpu);
    let pulse_ns = [pulse_before, pulse()?];
    let status = stage.engine.status();
    let before_stop = warmup::total(&stage.sinks);
    stage.engine.finish()?;
    let bytes_at_stop = settle_size(&stage.sinks).saturating_sub(before_stop);
    let broker_dropped = stage.broker.as_ref().map_or(0, Broker::dropped);
    let seen = follower.map(Follower::finish).transpose()?;
    // the control group stays until the processes in it are gone
    let Stage {
        engine,
        generator,
        broker,
        sinks,
        ..
    } = stage;
    drop((engine, generator, broker));
    let spec = &step.spec;
    // Eight publishers race each other through a broker; one connection has an order to keep.
    let ordered = step.mode == Mode::Direct;
    let proof = check::prove(spec.proof, spec.workload, &done.parts, &sinks, ordered)?;
    let latency = match seen {
        Some(seen) => {
            notes.extend_from_slice(&seen.notes);
            let stamps = fs::read_to_string(stamps_path(work))
                .map_err(|e| format!("the generator's stamps: {e}"))?;
            Some(latency::join(spec.workload, &seen, &stamps)?)
        }
        None => None,
    };
    let close_late_ms = last_growth.saturating_sub(due);
    let verdict = judge::judge(&Evidence {
        proof: &proof,
        done: &done,
        seconds: &meter.seconds,
        close_late_ms,
        rate: step.rate,
        open_loop: step.mode == Mode::Broker,
        lag_ms_max: options.lag_ms_max,
        strict: !options.smoke,
        unseen: latency.as_ref().map_or(0, |latency| latency.unseen),
    });
    let cpu_us_per_message = cpu as f64 / 1e3 / done.sent.max(1) as f64;
    Ok(Outcome {
        step: step.clone(),
        proof,
        verdict,
        seconds: meter.seconds,
        cpu_us_per_message,
        idle_anon_kib,
        close_late_ms,
        bytes_at_stop,
        broker_dropped,
        notes,
        status,
        done,
        latency,
        pulse_ns,
        threads_s,
    })
}

/// CPU seconds by thread between two looks, the busiest first, idle ones left out.
fn busiest(before: &[(String, u64)], after: &[(String, u64)]) -> Vec<f64> {
    let was = |id: &str| {
        before
            .iter()
            .find(|(b, _)| b == id)
            .map_or(0, |(_, ns)| *ns)
    };
    let spent = after
        .iter()
        .map(|(id, ns)| ns.saturating_sub(was(id)) as f64 / 1e9);
    let mut list: Vec<f64> = spent.filter(|seconds| *seconds >= 0.05).collect();
    list.sort_by(|a, b| b.total_cmp(a));
    list
}

fn stamps_path(work: &Path) -> PathBuf {
    work.join("stamps.txt")
}

/// Starts broker or peer, then the engine, then the publishers.
fn raise(options: &Options, step: &Step, work: &Path) -> Result<Stage, String> {
    let workload = step.spec.workload;
    let mut broker = None;
    let mut peer = None;
    let port = match step.mode {
        Mode::Broker => {
            broker
                .insert(Broker::start(&options.broker, options.load_core, work)?)
                .port
        }
        Mode::Direct => {
            let (generator, port) = Generator::direct(
                &options.mqttgen,
                options.load_core,
                workload,
                step.rate,
                options.seconds,
                step.extra.streams(),
            )?;
            peer = Some(generator);
            port
        }
    };
    let sinks: Vec<PathBuf> = (1..=step.extra.streams())
        .map(|k| work.join(format!("sink{k}.jsonl")))
        .collect();
    let share = step.extra.share();
    let mut group = if options.cgroup {
        Group::create(MEMORY_BYTES, share.is_some())
    } else {
        Group::none("no control group (--cgroup off); memory limited with prlimit --data")
    };
    let cores = match step.extra {
        // Where nothing is pinned there is one core only, and nothing to choose.
        Extra::Streams {
            on: Cores::TwoHalves,
            ..
        } => options.engine_core.map(|_| "0,1".to_string()),
        _ => options.engine_core.map(|core| core.to_string()),
    };
    let setting = Setting {
        spec: &step.spec,
        port,
        sinks: &sinks,
        work,
        home: &options.home,
        cores: cores.as_deref(),
        prompt: step.extra == Extra::Latency,
        memory: (!group.memory_limited).then_some(MEMORY_BYTES),
    };
    let mut engine = engine::start(&step.engine, &setting)?;
    group.add(engine.pid());
    if let Some(share) = share
        && let Err(why) = group.limit_threads(engine.pid(), share)
        && !options.smoke
    {
        return Err(format!("this step needs a limit for each thread of the engine: {why}"));
    }
    engine.begin()?;
    let generator = match peer {
        Some(generator) => generator,
        None => Generator::load(
            &options.mqttgen,
            options.load_core,
            workload,
            port,
            step.rate,
            options.seconds,
            (step.extra == Extra::Latency)
                .then(|| stamps_path(work))
                .as_deref(),
        )?,
    };
    Ok(Stage {
        engine,
        group,
        generator,
        broker,
        sinks,
    })
}

/// Samples until the generator is done.
fn send(stage: &mut Stage, meter: &mut Meter, seconds: f64) -> Result<Done, String> {
    let deadline = Instant::now() + Duration::from_secs_f64(seconds * 3.0 + 60.0);
    loop {
        if let Some(event) = stage.generator.next(Duration::from_millis(20))? {
            match event["event"].as_str() {
                Some("second") => {
                    meter.sent = event["sent"].as_u64().unwrap_or(0);
                    meter.lag_ms = event["lag_ms"].as_f64().unwrap_or(0.0);
                    // The generator's seconds are ours, so that its count and our CPU agree.
                    meter.take(stage, "send");
                }
                Some("done") => {
                    let done = Done::from_event(&event);
                    meter.sent = done.sent;
                    if meter.at.elapsed() > Duration::from_millis(500) {
                        meter.take(stage, "send");
                    }
                    return Ok(done);
                }
                Some("error") => {
                    return Err(format!(
                        "mqttgen: {}",
                        event["text"].as_str().unwrap_or("?")
                    ));
                }
                _ => {}
            }
        }
        stage.engine.check()?;
        if Instant::now() > deadline {
            return Err("the generator did not end in time".to_string());
        }
    }
}

/// Waits until the file has stopped growing and its due close is past; returns the epoch ms of
/// the last growth.
fn drain(stage: &mut Stage, meter: &mut Meter, due: u64, options: &Options) -> Result<u64, String> {
    // A busy CI machine may be behind when a window closes; the proof must not begin too early.
    let (quiet, extra) = if options.smoke {
        (400, 2_000)
    } else {
        (2_000, 1_500)
    };
    let end = unix_ms();
    let (mut size, mut grown) = (warmup::total(&stage.sinks), end);
    loop {
        std::thread::sleep(Duration::from_millis(5));
        let now = unix_ms();
        let new = warmup::total(&stage.sinks);
        if new != size {
            (size, grown) = (new, now);
        }
        stage.engine.check()?;
        meter.tick(stage, "drain");
        if now > due + extra && now > grown + quiet {
            return Ok(grown);
        }
        if now > due + 120_000 {
            return Err("the sink file still grows two minutes after its due close".to_string());
        }
    }
}

/// The size once it is the same for a moment.
fn settle_size(sinks: &[PathBuf]) -> u64 {
    let mut size = warmup::total(sinks);
    for _ in 0..100 {
        std::thread::sleep(Duration::from_millis(30));
        let now = warmup::total(sinks);
        if now == size {
            break;
        }
        size = now;
    }
    size
}
