//! Runs one case.

use jiff::tz::TimeZone;
use rekuiper_expr::{Env, Frame};
use rekuiper_formats::Decoder;
use rekuiper_functions::{Cx, NoHost, RowTimes};
use rekuiper_ops::frames::Times;
use rekuiper_ops::lookup::Lookups;
use rekuiper_ops::{Chain, Chunk, Emission, OpCx, Origin, Output, Projection, chain};
use rekuiper_plan::physical::{RulePlan, SourceKind};
use rekuiper_plan::{Catalog, Planned, plan_rule};
use rekuiper_sql::parse_select;
use rekuiper_value::batch::{RawBatch, Stamps};
use rekuiper_value::{Batch, Column, Error, Field, json};
use serde_json::Value as Json;

use super::catalog::{Streams, decode_options, rule_options};

/// How the rows are handed over.
#[derive(Clone, Copy, Debug)]
pub struct Mode {
    /// Rows that come together.
    pub batch: usize,
    /// Windows keep their rows even where aggregates alone would do.
    pub buffered: bool,
    /// After so many batches the operators are made anew from what the old ones saved.
    pub reload_after: Option<usize>,
}

/// The clock of all cases.
const NOW_MS: i64 = 1_700_000_000_000;

/// The emissions of a case, each a list of rows; an error where it is refused.
pub fn run(case: &Json, mode: Mode) -> Result<Vec<Json>, String> {
    let sql = case["sql"].as_str().unwrap_or("");
    let streams = Streams::of(case)?;
    let select = parse_select(sql).map_err(|e| e.render(sql))?;
    let options = rule_options(case, mode.buffered);
    let make = || -> Result<Planned, String> {
        plan_rule(&select, &streams, &options).map_err(|e| e.render(sql))
    };
    let plan = make()?.plan;
    let batches = batches(case, &plan, &streams, mode.batch)?;
    let layout = Layout::of(&plan);
    let mut out = Collected { event_time: plan.event_time, ..Collected::default() };
    let mut chain = build(plan);
    let mut times = RowTimes::default();
    for (at, (source, batch)) in batches.iter().enumerate() {
        if mode.reload_after == Some(at) {
            let saved = chain.save();
            chain = build(make()?.plan);
            chain.load(&saved);
        }
        layout.push(&mut chain, *source, batch, &mut out, &mut times);
    }
    match out.differs {
        Some(text) => Err(text),
        None => Ok(out.emissions),
    }
}

/// A case in processing time: every row says in its member `at` when it arrives; in between the
/// clock stops at every deadline of the operators, up to `until`. With `late` the ticks come so
/// many milliseconds after their deadline.
pub fn timed(case: &Json, until: i64, late: i64) -> Result<Vec<Json>, String> {
    timed_with(case, until, late, &|_| None)
}

/// The same with lookup tables, by their names.
pub fn timed_with(
    case: &Json,
    until: i64,
    late: i64,
    tables: &dyn Fn(&str) -> Option<Lookups>,
) -> Result<Vec<Json>, String> {
    let sql = case["sql"].as_str().unwrap_or("");
    let streams = Streams::of(case)?;
    let select = parse_select(sql).map_err(|e| e.render(sql))?;
    let options = rule_options(case, case["buffered"] == true);
    let plan = plan_rule(&select, &streams, &options).map_err(|e| e.render(sql))?.plan;
    let batches = batches(case, &plan, &streams, 1)?;
    let mut rows = case["streams"].as_array().into_iter().flatten().flat_map(|s| {
        s["input"].as_array().into_iter().flatten().map(|r| r["at"].as_i64().unwrap_or(0))
    });
    let mut layout = Layout::of(&plan);
    let asked: Vec<_> = plan.sources.iter().map(|s| tables(&s.stream)).collect();
    let name = |at: usize, word: &str| format!("op_{at}_{word}").into();
    let mut chain = chain::build_with(plan, &name, &|at| asked.get(at).cloned().flatten());
    let mut out = Collected::default();
    let mut times = RowTimes::default();
    layout.now = case["begin"].as_i64().unwrap_or(0);
    layout.tick(&mut chain, &mut out, &mut times);
    for (source, batch) in &batches {
        let at = rows.next().unwrap_or(0);
        layout.wait(at, late, &mut chain, &mut out, &mut times);
        let batch = Batch { stamps: Stamps::Same(at), ..batch.clone() };
        layout.push(&mut chain, *source, &batch, &mut out, &mut times);
    }
    layout.wait(until, late, &mut chain, &mut out, &mut times);
    out.differs.map_or(Ok(out.emissions), Err)
}

fn build(plan: RulePlan) -> Chain {
    chain::build(plan, &|at, word| format!("op_{at}_{word}"))
}

/// The rows of all sources: tables first, then the streams in turn.
fn batches(
    case: &Json,
    plan: &RulePlan,
    streams: &Streams,
    size: usize,
) -> Result<Vec<(usize, Batch)>, String> {
    let mut tables = Vec::new();
    let mut turns: Vec<Vec<(usize, Batch)>> = Vec::new();
    for (at, source) in plan.sources.iter().enumerate() {
        let all = case["streams"].as_array().into_iter().flatten();
        let given = all.into_iter().find(|s| s["name"] == source.stream.as_str());
        let (Some(given), Some(info)) = (given, streams.stream(&source.stream)) else { continue };
        let fields: Vec<Option<Field>> = source.fields.iter().cloned().map(Some).collect();
        let mut decoder = Decoder::new(decode_options(&info.def, plan.event_time))
            .map_err(|e| e.to_string())?;
        decoder.set_fields(&fields);
        let mut own = Vec::new();
        for lines in lines(given).chunks(size) {
            let payloads: Vec<&[u8]> = lines.iter().map(|l| l.as_bytes()).collect();
            own.push((at, decoder.decode(RawBatch::of_payloads(&payloads, NOW_MS))));
        }
        match source.kind {
            SourceKind::Stream => turns.push(own),
            _ => tables.extend(own),
        }
    }
    let most = turns.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = tables;
    for turn in 0..most {
        for own in &turns {
            out.extend(own.get(turn).map(|(at, batch)| (*at, batch.clone())));
        }
    }
    Ok(out)
}

fn lines(stream: &Json) -> Vec<String> {
    let raw = stream["lines"].as_array().map(|lines| {
        lines.iter().filter_map(|l| l.as_str().map(str::to_owned)).collect::<Vec<String>>()
    });
    let rows = || stream["input"].as_array().into_iter().flatten().map(Json::to_string).collect();
    raw.unwrap_or_else(rows)
}

/// Where the columns of each source are.
struct Layout {
    sources: Vec<(usize, usize)>,
    cols: usize,
    missing: Column,
    now: i64,
}

impl Layout {
    fn of(plan: &RulePlan) -> Self {
        let place = |s: &rekuiper_plan::physical::SourcePlan| (s.first_col, s.fields.len());
        let sources = plan.sources.iter().map(place).collect();
        Layout { sources, cols: plan.source_cols, missing: Column::missing(0), now: NOW_MS }
    }

    fn context<'a>(&self, zone: &'a TimeZone, times: &RowTimes) -> Cx<'a> {
        let (now_ms, rule_start) = (self.now, self.now);
        Cx { now_ms, rule_id: "rule", rule_start, zone, row: *times, host: &NoHost }
    }

    fn tick(&self, chain: &mut Chain, out: &mut Collected, times: &mut RowTimes) {
        let zone = TimeZone::UTC;
        let mut cx = self.context(&zone, times);
        chain.tick(&mut OpCx { cx: &mut cx, out, send_error: false });
        *times = cx.row;
    }

    /// Lets the clock go on to `until`.
    fn wait(
        &mut self,
        until: i64,
        late: i64,
        chain: &mut Chain,
        out: &mut Collected,
        times: &mut RowTimes,
    ) {
        while let Some(at) = chain.deadline().filter(|d| d + late <= until) {
            self.now = self.now.max(at + late);
            self.tick(chain, out, times);
        }
        self.now = self.now.max(until);
    }

    fn push(
        &self,
        chain: &mut Chain,
        source: usize,
        batch: &Batch,
        out: &mut Collected,
        times: &mut RowTimes,
    ) {
        let (first, count) = self.sources[source];
        let column = |col: usize| match col.checked_sub(first).filter(|c| *c < count) {
            Some(own) => batch.cols.get(own).unwrap_or(&self.missing),
            None => &self.missing,
        };
        let frame = Frame::new((0..self.cols).map(column), batch.rows);
        let mut sel: Vec<u32> = (0..batch.rows as u32).collect();
        let zone = TimeZone::UTC;
        let mut cx = self.context(&zone, times);
        let chunk = Chunk {
            frame,
            stamps: &batch.stamps,
            sel: &mut sel,
            emission: Emission::Rows,
            source: Origin::One(source),
        };
        chain.push(chunk, &mut OpCx { cx: &mut cx, out, send_error: false });
        *times = cx.row;
    }
}

/// Takes the results.
#[derive(Default)]
struct Collected {
    emissions: Vec<Json>,
    /// Hits are counted at the time of the data.
    event_time: bool,
    /// The two ways of writing a row gave different texts.
    differs: Option<String>,
}

impl Collected {
    fn row(&mut self, env: Env<'_>, row: usize, projection: &Projection) -> Result<Json, Error> {
        let mut text = Vec::new();
        let direct = projection.write_json(env, row, &mut text);
        let object = projection.object(env, row).and_then(|o| {
            let mut out = Vec::new();
            json::write_object(&mut out, &o).map(|()| out)
        });
        let read = |bytes: &[u8]| serde_json::from_slice::<Json>(bytes).ok();
        match (direct, object) {
            (Ok(()), Ok(other)) if read(&text).is_some() && read(&text) == read(&other) => {
                Ok(read(&text).unwrap_or_default())
            }
            (Err(error), Err(_)) => Err(error),
            (_, other) => {
                let (a, b) = (String::from_utf8_lossy(&text).into_owned(), other);
                self.differs = Some(format!("written as {a}, as an object {b:?}"));
                Ok(Json::Null)
            }
        }
    }
}

impl Output for Collected {
    fn emit(&mut self, chunk: &mut Chunk<'_>, projection: &Projection, cx: &mut Cx<'_>) {
        let set = chunk.emission.is_set();
        let times = Times { stamps: chunk.stamps, emission: chunk.emission };
        let mut rows = Vec::new();
        for row in chunk.sel.iter() {
            times.enter(*row as usize, cx);
            let found = self.row(Env { frame: &chunk.frame, cx }, *row as usize, projection);
            match found {
                Ok(row) if set => rows.push(row),
                Ok(row) => {
                    self.emissions.push(Json::from(vec![row]));
                    cx.row.hit_count += 1;
                    cx.row.hit_time = if self.event_time { cx.row.event } else { cx.now_ms };
                }
                Err(_) if set => return,
                Err(_) => {}
            }
        }
        if set {
            self.emissions.push(Json::from(rows));
            cx.row.agg_hit_count += 1;
            cx.row.agg_hit_time = if self.event_time { cx.row.event } else { cx.now_ms };
        }
    }

    fn error(&mut self, _error: &Error) {}
}
