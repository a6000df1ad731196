//! Metrics as Prometheus reads them, under the names of the original.

use std::fmt::Write;

use crate::App;
use crate::engine::NodeMetrics;
use crate::process;
use crate::rules::machine::State;

pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

struct Node {
    rule: String,
    /// `source`, `op` or `sink`.
    typ: &'static str,
    op: String,
    instance: String,
    metrics: NodeMetrics,
}

impl Node {
    fn of(rule: &str, name: &str, metrics: NodeMetrics) -> Option<Node> {
        let typ = ["source", "op", "sink"].into_iter().find(|t| {
            name.strip_prefix(t)
                .is_some_and(|rest| rest.starts_with('_'))
        })?;
        let (op, instance) = name[typ.len() + 1..].rsplit_once('_')?;
        let (op, instance) = (op.to_owned(), instance.to_owned());
        Some(Node {
            rule: rule.to_owned(),
            typ,
            op,
            instance,
            metrics,
        })
    }

    fn labels(&self) -> String {
        let Node {
            rule,
            typ,
            op,
            instance,
            ..
        } = self;
        let (op, instance) = (escape(op), escape(instance));
        format!(
            "op=\"{op}\",op_instance=\"{instance}\",rule=\"{}\",type=\"{typ}\"",
            escape(rule)
        )
    }
}

fn escape(label: &str) -> String {
    label
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

type Value = fn(&NodeMetrics) -> String;

const FAMILIES: [(&str, &str, &str, Value); 7] = [
    (
        "connection_status",
        "gauge",
        "1 connected, 0 connecting, -1 disconnected",
        |m| m.connection.as_ref().map_or(0, |c| c.status).to_string(),
    ),
    ("buffer_length", "gauge", "Rows that wait", |m| {
        m.buffer_length.to_string()
    }),
    ("exceptions_total", "counter", "Errors", |m| {
        m.exceptions.to_string()
    }),
    (
        "messages_processed_total",
        "counter",
        "Messages dealt with",
        |m| m.messages_processed.to_string(),
    ),
    ("process_latency_us", "gauge", "Time of the last row", |m| {
        m.process_latency_us.to_string()
    }),
    ("records_in_total", "counter", "Rows in", |m| {
        m.records_in.to_string()
    }),
    ("records_out_total", "counter", "Rows out", |m| {
        m.records_out.to_string()
    }),
];

/// All families in the order of their names.
pub fn text(app: &App) -> String {
    let mut nodes = Vec::new();
    for rule in app.rules.all() {
        for (name, metrics) in app.engine.metrics(&rule.id) {
            nodes.extend(Node::of(&rule.id, &name, metrics));
        }
    }
    let mut families: Vec<(String, String)> = Vec::new();
    for typ in ["op", "sink", "source"] {
        let of_type: Vec<&Node> = nodes.iter().filter(|n| n.typ == typ).collect();
        if of_type.is_empty() {
            continue;
        }
        for (name, kind, help, value) in FAMILIES {
            if name == "connection_status" && typ == "op" {
                continue;
            }
            let name = format!("kuiper_{typ}_{name}");
            let mut out = head(&name, kind, help);
            for n in &of_type {
                let _ = writeln!(out, "{name}{{{}}} {}", n.labels(), value(&n.metrics));
            }
            families.push((name, out));
        }
        let name = format!("kuiper_{typ}_process_latency_us_hist");
        let text = histogram(&name, &of_type);
        families.push((name, text));
    }
    families.extend(rules(app));
    families.extend(connections(app));
    families.extend(own(app));
    families.sort();
    families.into_iter().map(|(_, text)| text).collect()
}

fn head(name: &str, kind: &str, help: &str) -> String {
    format!("# HELP {name} {help}\n# TYPE {name} {kind}\n")
}

fn histogram(name: &str, nodes: &[&Node]) -> String {
    let mut out = head(name, "histogram", "Times of rows");
    for n in nodes {
        let (labels, counts) = (n.labels(), n.metrics.latency_histogram.unwrap_or([0; 21]));
        let mut sum = 0;
        for (i, count) in counts.iter().enumerate() {
            sum += count;
            let bound = if i == 20 {
                "+Inf".to_owned()
            } else {
                (10u64 << i).to_string()
            };
            let _ = writeln!(out, "{name}_bucket{{{labels},le=\"{bound}\"}} {sum}");
        }
        let _ = writeln!(out, "{name}_sum{{{labels}}} {}", n.metrics.latency_sum_us);
        let _ = writeln!(out, "{name}_count{{{labels}}} {sum}");
    }
    out
}

fn rules(app: &App) -> Vec<(String, String)> {
    let (mut status, mut running, mut stopped) = (
        head(
            "kuiper_rule_status",
            "gauge",
            "1 running, 0 stopped, -1 error",
        ),
        0,
        0,
    );
    for rule in app.rules.all() {
        let n = match rule.state() {
            State::Running | State::Starting | State::Stopping => 1,
            State::StoppedByError => -1,
            State::Stopped | State::Waiting => 0,
        };
        if n == 1 {
            running += 1
        } else {
            stopped += 1
        }
        let _ = writeln!(
            status,
            "kuiper_rule_status{{rule=\"{}\"}} {n}",
            escape(&rule.id)
        );
    }
    let mut count = head("kuiper_rule_count", "gauge", "Rules by state");
    let _ = writeln!(count, "kuiper_rule_count{{status=\"running\"}} {running}");
    let _ = writeln!(count, "kuiper_rule_count{{status=\"stop\"}} {stopped}");
    let mut out = vec![
        ("kuiper_rule_count".into(), count),
        ("kuiper_rule_status".into(), status),
    ];
    if let Some(all) = app
        .engine
        .cpu_usage()
        .filter(|_| app.config.basic.cpu_usage)
    {
        let name = "kuiper_rule_cpu_time_seconds_total";
        let mut text = head(name, "counter", "Processor time by rule");
        for (rule, ms) in all {
            let _ = writeln!(
                text,
                "{name}{{rule=\"{}\"}} {}",
                escape(&rule),
                ms as f64 / 1000.0
            );
        }
        out.push((name.into(), text));
    }
    out
}

fn connections(app: &App) -> Option<(String, String)> {
    let name = "kuiper_conn_status_gauge";
    let mut text = head(name, "gauge", "1 connected, 0 connecting, -1 disconnected");
    let all = app.catalog.connections();
    for c in &all {
        let status = app
            .engine
            .connection_status(&c.id)
            .map(|s| s.status)
            .unwrap_or_default();
        let n = match status.as_str() {
            "connected" => 1,
            "disconnected" => -1,
            _ => 0,
        };
        let _ = writeln!(text, "{name}{{name=\"{}\"}} {n}", escape(&c.id));
    }
    (!all.is_empty()).then(|| (name.into(), text))
}

fn own(app: &App) -> Vec<(String, String)> {
    let reading = app.process.read();
    let one = |name: &str, kind: &str, help: &str, v: String| {
        (
            name.to_owned(),
            format!("{}{name} {v}\n", head(name, kind, help)),
        )
    };
    vec![
        one(
            "process_cpu_seconds_total",
            "counter",
            "Processor time",
            process::cpu_seconds().to_string(),
        ),
        one(
            "process_resident_memory_bytes",
            "gauge",
            "Memory",
            reading.memory_used.to_string(),
        ),
    ]
}
