//! What a row costs in windows of several kinds, and what a group, or a row where rows are held,
//! takes of the process's anonymous memory. One line each, to be kept as they are.
//!
//! cargo run --release -p rekuiper-ops --example group_speed

use std::time::Instant;

use bytes::Bytes;
use jiff::tz::TimeZone;
use rekuiper_expr::{Expr, Frame};
use rekuiper_functions::{Cx, NoHost, RowTimes, lookup};
use rekuiper_ops::{Chain, Chunk, Emission, OpCx, Origin, Output, Projection, chain};
use rekuiper_plan::physical::*;
use rekuiper_value::batch::Stamps;
use rekuiper_value::{Cell, CellKind, Column, Error, Field, Value};

struct Counted(usize);

impl Output for Counted {
    fn emit(&mut self, chunk: &mut Chunk<'_>, _: &Projection, _: &mut Cx<'_>) {
        self.0 += chunk.sel.len();
    }
    fn error(&mut self, error: &Error) {
        eprintln!("{error}");
    }
}

const TEN_SECONDS: WindowShape = WindowShape::Tumbling { length: 10_000 };
const TEN_OF_TEN: WindowShape = WindowShape::Hopping { length: 10_000, hop: 1000 };

/// SELECT device, count(*), avg(temp), max(speed) ... GROUP BY device and a window
fn plan(shape: WindowShape) -> RulePlan {
    let call = |name: &str, arg, col| AggregateCall {
        def: lookup(name).expect("a function"),
        args: vec![arg],
        col,
    };
    let window = WindowPlan {
        shape,
        unit: TimeUnit::Second,
        filter: None,
        trigger_when: None,
        partition: Vec::new(),
        event_time: false,
        keep: Vec::new(),
    };
    let aggregate = AggregatePlan {
        dimensions: vec![Expr::Col(0)],
        calls: vec![
            call("count", Expr::Lit(Value::Int(1)), 3),
            call("avg", Expr::Col(1), 4),
            call("max", Expr::Col(2), 5),
        ],
        row_when_empty: false,
        sort_rows: Vec::new(),
    };
    let item = |name: &str, col| OutItem::Field {
        name: name.into(),
        expr: Expr::Col(col),
        nulls: OutNulls::LeaveOut,
    };
    RulePlan {
        sources: vec![SourcePlan {
            stream: "demo".into(),
            kind: SourceKind::Stream,
            first_col: 0,
            fields: ["device", "temp", "speed"].map(|n| Field::Named(n.into())).to_vec(),
        }],
        stages: vec![StagePlan {
            node: "window".into(),
            stage: Stage::WindowAggregate(window, aggregate),
        }],
        projection: ProjectionPlan {
            items: vec![item("device", 0), item("n", 3), item("a", 4), item("m", 5)],
        },
        source_cols: 3,
        cols: 6,
        uses_row_context: false,
        event_time: false,
        late_tolerance_ms: 0,
    }
}

fn batch(first: usize, devices: usize, rows: usize) -> Vec<Column> {
    let mut text = Vec::new();
    let mut cells = [const { Vec::new() }; 3];
    for row in 0..rows {
        let device = (first + row) % devices;
        let fields = [
            (CellKind::Plain, format!("device-{device:06}")),
            (CellKind::Decimal, format!("{}.5", 20 + row % 9)),
            (CellKind::Int, format!("{}", row % 130)),
        ];
        for (own, (kind, field)) in cells.iter_mut().zip(fields) {
            own.push(Cell::new(kind, text.len(), field.len()));
            text.extend_from_slice(field.as_bytes());
        }
    }
    let bytes = Bytes::from(text);
    cells.into_iter().map(|own| Column::cells(bytes.clone(), own, false)).collect()
}

fn context(zone: &TimeZone, now_ms: i64) -> Cx<'_> {
    Cx { now_ms, rule_id: "r", rule_start: 0, zone, row: RowTimes::default(), host: &NoHost }
}

fn push(chain: &mut Chain, columns: &[Column], now: i64, out: &mut Counted) {
    let zone = TimeZone::UTC;
    let mut cx = context(&zone, now);
    let rows = columns[0].len();
    let mut sel: Vec<u32> = (0..rows as u32).collect();
    let chunk = Chunk {
        frame: Frame::new(columns, rows),
        stamps: &Stamps::Same(now),
        sel: &mut sel,
        emission: Emission::Rows,
        source: Origin::One(0),
    };
    chain.push(chunk, &mut OpCx { cx: &mut cx, out, send_error: false });
}

/// Kilobytes of anonymous memory, where the system tells.
fn anonymous() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("RssAnon:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn made(shape: WindowShape) -> Chain {
    chain::build(plan(shape), &|_, word| word.to_owned())
}

/// Rows of so many devices in one window: nanoseconds a row, the best of some runs.
fn speed(what: &str, shape: &WindowShape, devices: usize, rows: usize) {
    let batches: Vec<Vec<Column>> = (0..500).map(|i| batch(i * rows, devices, rows)).collect();
    let mut best = f64::MAX;
    for _ in 0..5 {
        let mut chain = made(shape.clone());
        let mut out = Counted(0);
        for columns in &batches {
            push(&mut chain, columns, 1, &mut out); // reads the numbers, as a first rule would
        }
        let start = Instant::now();
        for columns in &batches {
            push(&mut chain, columns, 2, &mut out);
        }
        best = best.min(start.elapsed().as_nanos() as f64 / (batches.len() * rows) as f64);
    }
    println!("{what}, {devices} groups, batches of {rows}: {best:.1} ns a row");
}

/// What memory is measured of.
const HELD: [(&str, usize); 4] = [
    ("groups of a tumbling window", 1_000_000),
    ("groups of ten hopping windows", 100_000),
    ("groups of a window of 1,000 rows a group", 1000),
    ("rows of a window that keeps rows", 1_000_000),
];

/// Anonymous memory that groups or rows take in a window; in a process of its own, where no freed
/// memory can be taken again.
fn memory(at: usize) {
    let (what, all) = HELD[at];
    let rows = 1000;
    let times = if at == 2 { 1000 } else { 1 };
    let batches = move |i: usize| batch(i * rows, all, rows);
    let mut chain = match at {
        1 => made(TEN_OF_TEN),
        3 => chain::build(keeping_rows(plan(TEN_SECONDS)), &|_, word| word.to_owned()),
        _ => made(TEN_SECONDS),
    };
    drop(batches(0));
    let before = anonymous();
    let mut out = Counted(0);
    for i in 0..all / rows * times {
        let columns = batches(i);
        push(&mut chain, &columns, 1, &mut out);
    }
    if let (Some(before), Some(after)) = (before, anonymous()) {
        let bytes = after.saturating_sub(before) * 1024;
        println!("{what}: {all} held, {} bytes each of anonymous memory", bytes / all as u64);
    }
    let start = Instant::now();
    push(&mut chain, &batch(0, 1000, 1), 20_000, &mut out);
    println!("{what}: sent {} results in {:?}", out.0, start.elapsed());
}

/// The same with the window and the aggregates as two steps, as rules have it that need the rows.
fn keeping_rows(mut plan: RulePlan) -> RulePlan {
    let step = |stage| StagePlan { node: "step".into(), stage };
    plan.stages = std::mem::take(&mut plan.stages)
        .into_iter()
        .flat_map(|step_of| match step_of.stage {
            Stage::WindowAggregate(window, aggregate) => {
                vec![step(Stage::Window(window)), step(Stage::Aggregate(aggregate))]
            }
            stage => vec![step(stage)],
        })
        .collect();
    plan
}

fn main() {
    if let Some(at) = std::env::args().nth(1).and_then(|arg| arg.parse().ok()) {
        return memory(at);
    }
    for at in 0..HELD.len() {
        let own = std::env::current_exe().expect("the path of this program");
        let done = std::process::Command::new(own).arg(at.to_string()).status();
        assert!(done.is_ok_and(|status| status.success()), "a measurement of memory failed");
    }
    for devices in [1000, 10_000, 100_000] {
        speed("tumbling", &TEN_SECONDS, devices, 1024);
    }
    speed("tumbling", &TEN_SECONDS, 1000, 16);
    speed("ten hopping windows", &TEN_OF_TEN, 1000, 1024);
}
