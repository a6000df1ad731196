//! The command line of `mqttgen`; `mqttgen help` says what there is. It is part of the library so
//! that the runner's tests can be their own generator.

use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use crate::args::Args;
use crate::report::{Events, Field, to_json};
use crate::workload::{Part, Workload};
use crate::{control, direct, load, sink_check};

const HELP: &str = "\
mqttgen load   --addr HOST:PORT --workload w1 --rate N [--seconds 30] [--connections 8]
               [--threads 4] [--stamps FILE] [--summary FILE]
    open-loop publishers, MQTT 3.1.1, QoS 0, on a fixed schedule
mqttgen direct --workload w1 [--port 0] [--connections 1] [--rate 0] [--seconds 30] [--count 0]
               [--start-after-subscribe MS] [--summary FILE]
    the neutral peer on 127.0.0.1: the broker's side of MQTT, pushing as fast as the socket takes
mqttgen sink-check [--addr HOST:PORT] [--workload w1] [--seconds 5] [--level 4]
               [--peer-core N] [--core N]
    a bare reader that measures the peer's ceiling; starts its own peer without --addr
mqttgen show   --workload w1 [--count 3]
    prints messages

load and direct read commands on stdin, one a line: `probe N` (warm-up messages), `start`, `quit`;
the end of stdin is a quit (direct with --start-after-subscribe stays until it is killed), so
`echo start | mqttgen load ...` sends once and ends;
they write events to stdout, one JSON object a line: listening/ready, subscribed, probed, started,
second, done, error.
";

/// Runs the command that `words` (without the program's name) spell.
pub fn main(words: &[String]) -> ExitCode {
    let (verb, rest) = words
        .split_first()
        .map_or(("help", &[][..]), |(v, r)| (v.as_str(), r));
    let result = match verb {
        "load" => run_load(rest),
        "direct" => run_direct(rest),
        "sink-check" => run_sink_check(rest),
        "show" => show(rest),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other => Err(format!("unknown command `{other}`\n{HELP}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("mqttgen: {text}");
            ExitCode::FAILURE
        }
    }
}

fn workload(args: &Args) -> Result<Workload, String> {
    Workload::parse(args.text("workload").unwrap_or("w1"))
}

fn run_load(words: &[String]) -> Result<(), String> {
    let known = [
        "addr",
        "workload",
        "rate",
        "seconds",
        "connections",
        "threads",
        "stamps",
        "summary",
    ];
    let args = Args::parse(words, &known)?;
    let options = load::Options {
        workload: workload(&args)?,
        addr: args.text("addr").unwrap_or("127.0.0.1:1883").to_string(),
        connections: args.get("connections", 8)?,
        threads: args.get("threads", 4)?,
        rate: args.get("rate", 1_000)?,
        seconds: args.get("seconds", 30.0)?,
        stamps: args.text("stamps").map(Into::into),
    };
    let events = Arc::new(Events::stdout());
    let parts = load::run(&options, &control::from_stdin(true), &events)?;
    write_summary(&args, options.workload, &parts)
}

fn run_direct(words: &[String]) -> Result<(), String> {
    let known = [
        "workload",
        "port",
        "connections",
        "rate",
        "seconds",
        "count",
        "start-after-subscribe",
        "summary",
    ];
    let args = Args::parse(words, &known)?;
    let wait = match args.text("start-after-subscribe") {
        None => None,
        Some(_) => Some(Duration::from_millis(args.get("start-after-subscribe", 0)?)),
    };
    let options = direct::Options {
        workload: workload(&args)?,
        port: args.get("port", 0)?,
        connections: args.get("connections", 1)?,
        rate: args.get("rate", 0)?,
        seconds: args.get("seconds", 30.0)?,
        count: args.get("count", 0)?,
        start_after_subscribe: wait,
    };
    let events = Arc::new(Events::stdout());
    let commands = control::from_stdin(options.start_after_subscribe.is_none());
    let parts = direct::run(&options, &commands, &events)?;
    write_summary(&args, options.workload, &parts)
}

/// The count sent on each topic, in a file, because there may be 10,000 of them.
fn write_summary(args: &Args, workload: Workload, parts: &[Part]) -> Result<(), String> {
    let Some(path) = args.text("summary") else {
        return Ok(());
    };
    let mut counts = vec![0u64; workload.devices() as usize];
    for part in parts {
        part.residues(workload.devices(), |device, times| {
            counts[device as usize] += times
        });
    }
    let mut topics: Vec<(String, u64)> = Vec::new();
    for (device, count) in (0..).zip(counts) {
        let topic = workload.topic_of(&workload.device_name(device));
        match topics.last_mut() {
            Some((last, sum)) if *last == topic => *sum += count,
            _ => topics.push((topic, count)),
        }
    }
    let sent = parts.iter().map(|p| p.count).sum();
    let mut text = to_json(
        "summary",
        &[
            ("workload", Field::Text(workload.id())),
            ("sent", Field::Int(sent)),
            ("parts", Field::Parts(parts)),
        ],
    );
    for (topic, count) in &topics {
        let fields = [("topic", Field::Text(topic)), ("sent", Field::Int(*count))];
        text.push_str(&to_json("topic", &fields));
    }
    std::fs::write(path, text).map_err(|e| format!("cannot write the summary to {path}: {e}"))
}

fn run_sink_check(words: &[String]) -> Result<(), String> {
    let known = ["addr", "workload", "seconds", "level", "peer-core", "core"];
    let args = Args::parse(words, &known)?;
    let workload = workload(&args)?;
    let level = args.get("level", 4)?;
    if let Some(core) = args.text("core") {
        let pid = std::process::id().to_string();
        let pinned = Command::new("taskset")
            .args(["-a", "-p", "-c", core, &pid])
            .output();
        pinned.map_err(|e| format!("cannot pin to core {core} with taskset: {e}"))?;
    }
    let mut peer = None;
    let addr = match args.text("addr") {
        Some(addr) => addr.to_string(),
        None => {
            let (child, addr) = start_peer(&args, workload)?;
            peer = Some(child);
            addr
        }
    };
    let received = sink_check::run(&addr, workload, level, Duration::from_millis(500));
    if let Some(mut peer) = peer {
        let _ = peer.kill();
        let _ = peer.wait();
    }
    let received = received.map_err(|e| format!("reading from {addr} failed: {e}"))?;
    let rate = received.messages as f64 / received.seconds.max(1e-9);
    print!(
        "{}",
        to_json(
            "received",
            &[
                ("workload", Field::Text(workload.id())),
                ("messages", Field::Int(received.messages)),
                ("bytes", Field::Int(received.bytes)),
                ("seconds", Field::Float(received.seconds)),
                ("rate", Field::Float(rate)),
            ],
        )
    );
    Ok(())
}

fn start_peer(args: &Args, workload: Workload) -> Result<(std::process::Child, String), String> {
    let me = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut command = match args.text("peer-core") {
        Some(core) => {
            let mut command = Command::new("taskset");
            command.args(["-c", core]).arg(me);
            command
        }
        None => Command::new(me),
    };
    let seconds = args.text("seconds").unwrap_or("5");
    command.args(["direct", "--workload", workload.id(), "--seconds", seconds]);
    command.args(["--start-after-subscribe", "200"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|e| format!("cannot start the peer: {e}"))?;
    let mut line = String::new();
    if let Some(out) = child.stdout.take() {
        let mut from = std::io::BufReader::new(out);
        std::io::BufRead::read_line(&mut from, &mut line).map_err(|e| e.to_string())?;
        // Keep draining, or the peer would block on a full pipe.
        std::thread::spawn(move || std::io::copy(&mut from, &mut std::io::sink()));
    }
    let port: String = line.chars().filter(char::is_ascii_digit).collect();
    Ok((child, format!("127.0.0.1:{port}")))
}

fn show(words: &[String]) -> Result<(), String> {
    let args = Args::parse(words, &["workload", "count"])?;
    let workload = workload(&args)?;
    for i in 0..args.get("count", 3)? {
        let message = workload.message(i);
        println!(
            "{} {}",
            message.topic,
            String::from_utf8_lossy(&message.payload)
        );
    }
    Ok(())
}
