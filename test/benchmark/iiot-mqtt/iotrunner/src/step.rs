//! One step: an engine, a workload, a way to feed it, a rate. Starts everything afresh, measures,
//! proves, judges.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mqttgen::report::unix_ms;

use crate::broker::Broker;
use crate::cgroup::Group;
use crate::check::{self, Proof};
use crate::engine::{self, Engine, EngineSpec, Setting};
use crate::generator::{Done, Generator};
use crate::judge::{self, Evidence, Verdict};
use crate::options::{MEMORY_BYTES, Options};
use crate::sample::{self, Reading, Second};
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
}

impl Step {
    pub fn label(&self) -> String {
        let rate = if self.rate == 0 {
            "max".to_string()
        } else {
            self.rate.to_string()
        };
        let id = self.spec.workload.id();
        format!("{}-{id}-{}-{rate}", self.engine.name, self.mode.name())
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

/// Everything that runs during a step; dropped in this order, engine first.
struct Stage {
    engine: Box<dyn Engine>,
    group: Group,
    generator: Generator,
    broker: Option<Broker>,
    sink: PathBuf,
}

/// Runs a step in a folder of its own, which is removed again unless sinks are kept.
pub fn run(options: &Options, step: &Step) -> Result<Outcome, String> {
    let work = options
        .work
        .join(format!("iotrunner-{}-{}", std::process::id(), step.label()));
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
        &stage.sink,
    )?;
    let mut meter = Meter::new(&stage);
    let idle_anon_kib = meter.before.engine_anon_kib;
    let start_cpu = meter.before.engine_cpu_ns;
    stage.generator.tell("start")?;
    let done = send(&mut stage, &mut meter, options.seconds)?;
    let due = window.due(done.end_ms);
    let last_growth = drain(&mut stage, &mut meter, due, options)?;
    let cpu = read(&stage).engine_cpu_ns.saturating_sub(start_cpu);
    let status = stage.engine.status();
    let before_stop = warmup::size(&stage.sink);
    stage.engine.finish()?;
    let bytes_at_stop = settle_size(&stage.sink).saturating_sub(before_stop);
    let broker_dropped = stage.broker.as_ref().map_or(0, Broker::dropped);
    let Stage {
        engine,
        group,
        generator,
        broker,
        sink,
    } = stage;
    drop((engine, generator, broker));
    let spec = &step.spec;
    let proof = check::prove(spec.proof, spec.workload, &done.parts, &sink)?;
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
        notes: group.notes.clone(),
        status,
        done,
    })
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
            )?;
            peer = Some(generator);
            port
        }
    };
    let sink = work.join("sink.jsonl");
    let mut group = if options.cgroup {
        Group::create(MEMORY_BYTES)
    } else {
        Group::none("no control group (--cgroup off); memory limited with prlimit --data")
    };
    let setting = Setting {
        spec: &step.spec,
        port,
        sink: &sink,
        work,
        home: &options.home,
        core: options.engine_core,
        memory: (!group.memory_limited).then_some(MEMORY_BYTES),
    };
    let mut engine = engine::start(&step.engine, &setting)?;
    group.add(engine.pid());
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
        )?,
    };
    Ok(Stage {
        engine,
        group,
        generator,
        broker,
        sink,
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
    let (quiet, extra) = if options.smoke {
        (400, 500)
    } else {
        (2_000, 1_500)
    };
    let end = unix_ms();
    let (mut size, mut grown) = (warmup::size(&stage.sink), end);
    loop {
        std::thread::sleep(Duration::from_millis(5));
        let now = unix_ms();
        let new = warmup::size(&stage.sink);
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
fn settle_size(path: &Path) -> u64 {
    let mut size = warmup::size(path);
    for _ in 0..100 {
        std::thread::sleep(Duration::from_millis(30));
        let now = warmup::size(path);
        if now == size {
            break;
        }
        size = now;
    }
    size
}

/// Takes a reading each second and keeps the differences.
struct Meter {
    before: Reading,
    at: Instant,
    start: Instant,
    seconds: Vec<Second>,
    sent: u64,
    lag_ms: f64,
}

impl Meter {
    fn new(stage: &Stage) -> Meter {
        let now = Instant::now();
        Meter {
            before: read(stage),
            at: now,
            start: now,
            seconds: Vec::new(),
            sent: 0,
            lag_ms: 0.0,
        }
    }

    fn tick(&mut self, stage: &Stage, phase: &'static str) {
        if self.at.elapsed() >= Duration::from_secs(1) {
            self.take(stage, phase);
        }
    }

    fn take(&mut self, stage: &Stage, phase: &'static str) {
        let passed = self.at.elapsed().as_secs_f64();
        let now = read(stage);
        let before = self.before;
        let pct = |after: u64, before: u64| sample::percent(after.saturating_sub(before), passed);
        self.seconds.push(Second {
            second: self.start.elapsed().as_secs_f64(),
            phase,
            sent: self.sent,
            engine_cpu_pct: pct(now.engine_cpu_ns, before.engine_cpu_ns),
            engine_anon_kib: now.engine_anon_kib,
            broker_cpu_pct: pct(now.broker_cpu_ns, before.broker_cpu_ns),
            generator_cpu_pct: pct(now.generator_cpu_ns, before.generator_cpu_ns),
            generator_lag_ms: self.lag_ms,
            broker_dropped: stage.broker.as_ref().map_or(0, Broker::dropped),
            others_cpu_pct: now.others_pct(&before, passed),
            sink_bytes: warmup::size(&stage.sink),
        });
        self.before = now;
        self.at = Instant::now();
    }
}

fn read(stage: &Stage) -> Reading {
    let cpu = |pid: u32| sample::process_cpu_ns(pid).unwrap_or(0);
    let engine = stage.engine.pid();
    Reading {
        engine_cpu_ns: stage.group.cpu_ns().unwrap_or_else(|| cpu(engine)),
        engine_anon_kib: sample::anonymous_kib(engine).unwrap_or(0),
        broker_cpu_ns: stage.broker.as_ref().map_or(0, |b| cpu(b.pid())),
        generator_cpu_ns: cpu(stage.generator.pid()),
        runner_cpu_ns: cpu(std::process::id()),
        machine_cpu_ns: sample::machine_cpu_ns().unwrap_or(0),
    }
}
