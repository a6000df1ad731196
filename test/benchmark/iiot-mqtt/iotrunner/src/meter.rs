//! Takes a reading of everything that runs each second and keeps the differences.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::broker::Broker;
use crate::cgroup::Group;
use crate::engine::Engine;
use crate::generator::Generator;
use crate::sample::{self, Reading, Second};
use crate::warmup;

/// Everything that runs during a step; dropped in this order, engine first.
pub struct Stage {
    pub engine: Box<dyn Engine>,
    pub group: Group,
    pub generator: Generator,
    pub broker: Option<Broker>,
    pub sinks: Vec<PathBuf>,
}

pub struct Meter {
    pub before: Reading,
    pub at: Instant,
    pub start: Instant,
    pub seconds: Vec<Second>,
    pub sent: u64,
    pub lag_ms: f64,
}

impl Meter {
    pub fn new(stage: &Stage) -> Meter {
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

    pub fn tick(&mut self, stage: &Stage, phase: &'static str) {
        if self.at.elapsed() >= Duration::from_secs(1) {
            self.take(stage, phase);
        }
    }

    pub fn take(&mut self, stage: &Stage, phase: &'static str) {
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
            sink_bytes: warmup::total(&stage.sinks),
        });
        self.before = now;
        self.at = Instant::now();
    }
}

pub fn read(stage: &Stage) -> Reading {
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
