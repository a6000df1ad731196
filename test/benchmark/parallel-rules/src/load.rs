//! One run of P1, P2 or P3: create the rules, send on schedule, drain, prove.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use iotrunner::http;
use iotrunner::sample::{self, Reading, Second};

use crate::case::Case;
use crate::engine::Engine;
use crate::feed::Feed;
use crate::proof::{self, Proof};

pub struct Plan {
    pub case: Case,
    pub rules: u64,
    pub rate: u64,
    pub seconds: u64,
    pub engine: PathBuf,
    pub core: Option<usize>,
    pub connections: usize,
}

pub struct Outcome {
    pub seconds: Vec<Second>,
    pub created_s: f64,
    pub sent: u64,
    pub lag_ms: f64,
    pub drain_s: f64,
    pub anon_idle_kib: u64,
    pub anon_max_kib: u64,
    pub cpu_pct: f64,
    pub others_pct: f64,
    pub proof: Proof,
}

/// How long the engine may take for what is still on its way, windows included.
const DRAIN_MAX: Duration = Duration::from_secs(25);

pub fn run(plan: &Plan, work: &Path) -> Result<Outcome, String> {
    let feed = Feed::start()?;
    let mut engine = Engine::start(&plan.engine, plan.core, work)?;
    engine.stream(feed.port)?;
    let out = work.join("out");
    let bodies: Vec<String> = (0..plan.rules).map(|r| body(plan, r, &out)).collect();
    let created_s = engine.create(&bodies, plan.connections)?;
    let deadline = Instant::now() + Duration::from_secs(10);
    while !feed.is_subscribed() {
        engine.process.check()?;
        if Instant::now() > deadline {
            return Err("the engine does not subscribe".into());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(500));
    let pid = engine.process.pid();
    let anon_idle_kib = sample::anonymous_kib(pid).unwrap_or(0);
    let (sent, seconds) = send(plan, &feed, pid, &out)?;
    let start = Instant::now();
    let drain_s = drain(plan, &engine, &out, sent, start);
    let last = reading(pid);
    let anon_max_kib = seconds.iter().map(|s| s.engine_anon_kib).max().unwrap_or(0);
    let share = |of: fn(&Second) -> f64| {
        seconds.iter().map(of).sum::<f64>() / seconds.len().max(1) as f64
    };
    let proof = match plan.case {
        Case::P2 => proof::counters(statuses(&engine, plan.rules), sent),
        _ => {
            stop_all(&engine, plan);
            proof::files(plan.case, plan.rules, sent, &out)
        }
    };
    engine.process.check()?;
    Ok(Outcome {
        created_s,
        sent,
        lag_ms: feed.lag_us.load(Relaxed) as f64 / 1_000.0,
        drain_s,
        anon_idle_kib,
        anon_max_kib: anon_max_kib.max(last.engine_anon_kib),
        cpu_pct: share(|s| s.engine_cpu_pct),
        others_pct: share(|s| s.others_cpu_pct),
        proof,
        seconds,
    })
}

fn body(plan: &Plan, rule: u64, out: &Path) -> String {
    let path = out.join(format!("r{rule}.jsonl"));
    serde_json::json!({
        "id": format!("r{rule}"),
        "sql": plan.case.sql(rule, plan.rules),
        "actions": [plan.case.action(&path.to_string_lossy())],
        "options": {"qos": 0},
    })
    .to_string()
}

/// Sends for the planned time, sampling each second.
fn send(plan: &Plan, feed: &Feed, pid: u32, out: &Path) -> Result<(u64, Vec<Second>), String> {
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| feed.send("bench/telemetry", 0, plan.rate, plan.seconds));
        let mut seconds = Vec::new();
        let (begin, mut before) = (Instant::now(), reading(pid));
        let mut at = Instant::now();
        while !sender.is_finished() {
            std::thread::sleep(Duration::from_millis(1_000).saturating_sub(at.elapsed()));
            let now = reading(pid);
            let span = at.elapsed().as_secs_f64();
            at = Instant::now();
            seconds.push(Second {
                second: begin.elapsed().as_secs_f64(),
                phase: "send",
                sent: feed.sent.load(Relaxed),
                engine_cpu_pct: sample::percent(now.engine_cpu_ns - before.engine_cpu_ns, span),
                engine_anon_kib: now.engine_anon_kib,
                generator_lag_ms: feed.lag_us.load(Relaxed) as f64 / 1_000.0,
                others_cpu_pct: now.others_pct(&before, span),
                sink_bytes: size(out),
                ..Second::default()
            });
            before = now;
        }
        match sender.join() {
            Ok(sent) => Ok((sent?, seconds)),
            Err(_) => Err("the sender ended by a panic".to_owned()),
        }
    })
}

/// Until nothing moves any more: seconds from the end of sending to the last change.
fn drain(plan: &Plan, engine: &Engine, out: &Path, sent: u64, start: Instant) -> f64 {
    let mut last = (u64::MAX, 0.0);
    // a window may be open for ten seconds
    let quiet = if plan.case == Case::P3 { 11.0 } else { 1.0 };
    loop {
        let now = start.elapsed().as_secs_f64();
        let moved = match plan.case {
            Case::P2 => engine_progress(engine, plan.rules),
            _ => size(out),
        };
        if moved != last.0 {
            last = (moved, now);
        }
        if plan.case == Case::P2 && moved >= sent {
            return now;
        }
        if now - last.1 > quiet || now > DRAIN_MAX.as_secs_f64() {
            return last.1;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// What the last rule has taken.
fn engine_progress(engine: &Engine, rules: u64) -> u64 {
    let path = format!("/rules/r{}/status", rules.saturating_sub(1));
    let text = http::request(engine.rest, "GET", &path, "").map(|(_, t)| t).unwrap_or_default();
    let status: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    status["sink_nop_0_0_records_out_total"].as_u64().unwrap_or(0)
}

fn statuses(engine: &Engine, rules: u64) -> impl Iterator<Item = (u64, String)> {
    let rest = engine.rest;
    (0..rules).map(move |rule| {
        let answer = http::request(rest, "GET", &format!("/rules/r{rule}/status"), "");
        (rule, answer.map(|(_, text)| text).unwrap_or_default())
    })
}

fn stop_all(engine: &Engine, plan: &Plan) {
    for rule in 0..plan.rules {
        // a rule that cannot be stopped shows in its file
        let _ = http::request(engine.rest, "POST", &format!("/rules/r{rule}/stop"), "");
    }
}

fn reading(pid: u32) -> Reading {
    Reading {
        engine_cpu_ns: sample::process_cpu_ns(pid).unwrap_or(0),
        engine_anon_kib: sample::anonymous_kib(pid).unwrap_or(0),
        runner_cpu_ns: sample::process_cpu_ns(std::process::id()).unwrap_or(0),
        machine_cpu_ns: sample::machine_cpu_ns().unwrap_or(0),
        ..Reading::default()
    }
}

fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|e| e.metadata().ok()).map(|m| m.len()).sum()
}
