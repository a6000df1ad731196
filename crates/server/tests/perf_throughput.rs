//! In-process throughput: 500,000 records through a real engine, from a bounded queue in memory to
//! a bounded queue in memory, everything on one thread, errors of rows sent to the sink. The output
//! is proven row by row; time is printed and judged by people.
//!
//! Three ways: rows in and rows out ("zero-parse": both sides hold typed columns, as an application
//! around the engine does), rows in and JSON out, JSON in and JSON out.
//!
//! `cargo test --release -p rekuiper-server --test perf_throughput -- --nocapture --test-threads=1`

use std::sync::Arc;
use std::time::Instant;

use rekuiper_connect::embed::{self, Embedded, Results};
use rekuiper_connect::{Props, Services};
use rekuiper_flow::{ActionSpec, Engine, EngineConfig, FlowCatalog, RuleSpec, StreamSpec};
use rekuiper_plan::{Catalog, StreamInfo};
use rekuiper_rt::Clock;
use rekuiper_sql::ast::{Statement, StreamDef};
use rekuiper_value::batch::{BATCH_ROWS_MAX, Payloads, RawBatch, SourceColumns};
use rekuiper_value::{Column, Str, Value};
use tokio::sync::mpsc;

const SQL: &str = "SELECT id, temp * 1.8 + 32 AS temp_f FROM perf_stream WHERE temp > 20.0";
const RECORDS: usize = if cfg!(debug_assertions) { 20_000 } else { 500_000 };
const ROUNDS: usize = if cfg!(debug_assertions) { 1 } else { 7 };
/// Every so many JSON records one is cut short: its error has to arrive too.
const BROKEN_EVERY: usize = 10_007;
/// Batches that wait before and behind the engine.
const QUEUE_BATCHES: usize = 4;

struct One {
    def: Arc<StreamDef>,
    props: Props,
}

impl Catalog for One {
    fn stream(&self, name: &str) -> Option<StreamInfo> {
        (name == "perf_stream").then(|| StreamInfo::new(self.def.clone()))
    }
}

impl FlowCatalog for One {
    fn stream_spec(&self, name: &str) -> Option<StreamSpec> {
        let spec = || StreamSpec { def: self.def.clone(), props: self.props.clone() };
        (name == "perf_stream").then(spec)
    }
    fn as_plan(&self) -> &dyn Catalog {
        self
    }
}

fn id(i: usize) -> usize {
    1_000_000_000 + i
}

/// Tenths of a degree, 20.0 to 34.9: 20.0 itself must not pass.
fn tenths(i: usize) -> usize {
    200 + i * 7 % 150
}

fn temp(i: usize) -> f64 {
    tenths(i) as f64 / 10.0
}

fn is_broken(i: usize) -> bool {
    i % BROKEN_EVERY == BROKEN_EVERY - 1
}

/// A record as W1 has it.
fn json(i: usize) -> String {
    let (whole, tenth) = (tenths(i) / 10, tenths(i) % 10);
    let mut text = format!(
        "{{\"id\":{},\"device\":\"dev-{:04}\",\"ts\":{},\"temp\":{whole}.{tenth},\
         \"humidity\":{}.5,\"speed\":{}.{},\"status\":\"ok\",\
         \"line\":{{\"site\":\"site-{}\",\"cell\":{}}}}}",
        id(i),
        i % 1000,
        1_760_000_000_000usize + i,
        40 + i % 20,
        10 + i % 80,
        i % 10,
        i % 4,
        i % 9
    );
    if is_broken(i) {
        text.truncate(text.len() - 1);
    }
    text
}

/// What a reader of the language would compute, printed by the standard library.
fn expected(i: usize) -> String {
    format!("{{\"id\":{},\"temp_f\":{}}}", id(i), temp(i) * 1.8 + 32.0)
}

fn batches(one: impl Fn(std::ops::Range<usize>) -> Payloads) -> Vec<RawBatch> {
    let starts = (0..RECORDS).step_by(BATCH_ROWS_MAX);
    let raw = |from| RawBatch {
        payloads: one(from..(from + BATCH_ROWS_MAX).min(RECORDS)),
        meta: None,
        ts: 0,
        ack: None,
    };
    starts.map(raw).collect()
}

fn json_batches() -> Vec<RawBatch> {
    batches(|range| {
        let texts: Vec<String> = range.map(json).collect();
        let payloads: Vec<&[u8]> = texts.iter().map(|t| t.as_bytes()).collect();
        RawBatch::of_payloads(&payloads, 0).payloads
    })
}

/// All columns of a record, as a source that holds numbers gives them.
fn column_batches() -> Vec<RawBatch> {
    let names: Arc<[Str]> = ["id", "device", "ts", "temp", "status"].map(Str::from).into();
    batches(|range| {
        let rows = range.len();
        let ids = range.clone().map(|i| id(i) as i64).collect();
        let devices = range.clone().map(|i| Value::str(format!("dev-{:04}", i % 1000)));
        let times = range.clone().map(|i| 1_760_000_000_000 + i as i64).collect();
        let cols = vec![
            Column::whole_numbers(ids),
            Column::values(devices.collect()),
            Column::whole_numbers(times),
            Column::floats(range.map(temp).collect()),
            Column::constant(Value::str("ok"), rows),
        ];
        Payloads::Columns(SourceColumns { names: names.clone(), cols, rows })
    })
}

/// Whether rows go in, and come out, in the engine's own form instead of JSON.
#[derive(Clone, Copy)]
struct Form {
    rows_in: bool,
    rows_out: bool,
}

/// One run: how many seconds it took. `listen` is where what comes out is asked for, `take` keeps
/// it.
fn run<T: Send + 'static>(
    batches: Vec<RawBatch>,
    form: Form,
    listen: fn(&Embedded, mpsc::Sender<T>),
    mut take: impl FnMut(T),
) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let ddl = "CREATE STREAM perf_stream () WITH (DATASOURCE=\"x\", FORMAT=\"json\", \
                   TYPE=\"$embed\")";
        let Ok(Statement::Create(def)) = rekuiper_sql::parse_statement(ddl) else {
            panic!("the stream's definition does not parse")
        };
        let props = [("rows".to_owned(), form.rows_in.into())].into_iter().collect();
        let catalog = One { def: Arc::from(def), props: Props::new(props) };
        let services = Services::new(Clock::Real, ".".into(), ".".into());
        let (feed, inlet) = mpsc::channel(QUEUE_BATCHES);
        let (outlet, mut results) = mpsc::channel(QUEUE_BATCHES);
        services.embedded.feed("perf_stream", inlet);
        listen(&services.embedded, outlet);
        let engine = Engine::new(EngineConfig::new(Clock::Real, services));
        let action = [("sendSingle", true), ("rows", form.rows_out)];
        let action = action.into_iter().map(|(key, on)| (key.to_owned(), on.into())).collect();
        let spec = RuleSpec {
            id: "perf".into(),
            sql: SQL.into(),
            actions: vec![ActionSpec { typ: embed::NAME.into(), props: Props::new(action) }],
            send_error: true,
            ..RuleSpec::default()
        };
        engine.start(&spec, &catalog, Box::new(|_| {})).expect("the rule starts");
        let start = Instant::now();
        let feeding = tokio::spawn(async move {
            for batch in batches {
                feed.send(batch).await.expect("the stream reads on");
            }
        });
        while let Some(result) = results.recv().await {
            take(result);
        }
        let seconds = start.elapsed().as_secs_f64();
        feeding.await.expect("everything was fed");
        seconds
    })
}

/// Seconds a run took; how many rows passed and how many errors came, as proven.
type Outcome = (f64, (usize, usize));

/// A run whose results are JSON; proven line by line.
fn json_out(batches: Vec<RawBatch>, rows_in: bool) -> Outcome {
    // written to once, so that the kernel hands out its pages before the time runs
    let mut all = Results { bytes: vec![1; RECORDS * 48], ends: vec![1; RECORDS * 2] };
    all.bytes.clear();
    all.ends.clear();
    let form = Form { rows_in, rows_out: false };
    let listen = |e: &Embedded, to| e.collect("perf", to);
    let seconds = run(batches, form, listen, |result: Results| {
        let at = all.bytes.len() as u32;
        all.bytes.extend_from_slice(&result.bytes);
        all.ends.extend(result.ends.iter().map(|end| at + end));
    });
    (seconds, prove(&all, !rows_in))
}

/// A run whose results are rows; proven row by row.
fn rows_out(batches: Vec<RawBatch>) -> Outcome {
    let mut all: Vec<Arc<SourceColumns>> = Vec::with_capacity(2 * RECORDS / BATCH_ROWS_MAX);
    let listen = |e: &Embedded, to| e.collect_columns("perf", to);
    let form = Form { rows_in: true, rows_out: true };
    let seconds = run(batches, form, listen, |result| all.push(result));
    (seconds, (prove_rows(&all), 0))
}

fn lines(result: &Results) -> Vec<&str> {
    let mut lines = Vec::with_capacity(RECORDS);
    let mut from = 0;
    for end in &result.ends {
        let line = &result.bytes[from..*end as usize];
        lines.push(std::str::from_utf8(line).expect("text"));
        from = *end as usize + 1;
    }
    lines
}

/// Compares what came out, line by line, in order. `errors`: broken records give an error each.
fn prove(results: &Results, errors: bool) -> (usize, usize) {
    let (mut passed, mut failed) = (0, 0);
    let lines = lines(results);
    let (good, bad): (Vec<&str>, Vec<&str>) =
        lines.into_iter().partition(|line| line.starts_with("{\"id\":"));
    let mut good = good.into_iter();
    for i in 0..RECORDS {
        if errors && is_broken(i) {
            failed += 1;
        } else if temp(i) > 20.0 {
            passed += 1;
            assert_eq!(good.next(), Some(expected(i).as_str()), "record {i}");
        }
    }
    assert_eq!(good.next(), None, "nothing more than expected comes out");
    assert_eq!(bad.len(), failed, "one error for each broken record");
    (passed, failed)
}

/// Compares the rows that came out, in order, with what was to come.
fn prove_rows(parts: &[Arc<SourceColumns>]) -> usize {
    let mut expected = (0..RECORDS).filter(|i| temp(*i) > 20.0);
    let mut seen = 0;
    for part in parts {
        assert_eq!(part.names.iter().map(Str::as_str).collect::<Vec<_>>(), ["id", "temp_f"]);
        for row in 0..part.rows {
            let i = expected.next().expect("no more rows than expected");
            let found = [part.cols[0].value(row), part.cols[1].value(row)];
            let wanted = [Value::Int(id(i) as i64), Value::Float(temp(i) * 1.8 + 32.0)];
            assert_eq!(found, wanted, "record {i}");
            seen += 1;
        }
    }
    assert_eq!(expected.next(), None, "no row is missing");
    seen
}

fn measure(
    label: &str,
    made: fn() -> Vec<RawBatch>,
    run: fn(Vec<RawBatch>) -> Outcome,
) {
    let mut rates = Vec::new();
    let mut proven = (0, 0);
    for _ in 0..ROUNDS {
        let (seconds, found) = run(made());
        proven = found;
        rates.push(RECORDS as f64 / seconds);
    }
    rates.sort_by(f64::total_cmp);
    println!(
        "{label}: best {:.2} M events/s ({:.1} ns an event), median {:.2} M of {ROUNDS} rounds; \
         {} results and {} errors proven of {RECORDS} records",
        rates[ROUNDS - 1] / 1e6,
        1e9 / rates[ROUNDS - 1],
        rates[ROUNDS / 2] / 1e6,
        proven.0,
        proven.1
    );
}

#[test]
fn records_in_row_form() {
    measure("zero-parse, rows in and out", column_batches, rows_out);
}

#[test]
fn records_in_row_form_json_out() {
    measure("rows in, JSON out", column_batches, |batches| json_out(batches, true));
}

#[test]
fn json_in_json_out() {
    measure("JSON in, JSON out", json_batches, |batches| json_out(batches, false));
}
