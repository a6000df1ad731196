//! dedup_trigger(start, end, now, expire): each row asks for a span of time; it gets those parts of
//! it that no earlier row asked for, as `[{"start_key": "…", "end_key": "…"}]`, null where nothing
//! is left. What lies more than `expire` before the row's `now` is not looked at any more.
//!
//! A row whose span is not over yet waits until it is: by the `now` of later rows, or by the clock.
//! Holds the waiting rows, at most [`WAITING_MAX`], and the spans of the last `expire`.

use rekuiper_expr::Expr;
use rekuiper_value::{Column, Error, Object, Result, Str, Value};

use crate::chunk::Emission;
use crate::frames::{RowExpr, Times, put};
use crate::window::assign::numbers;
use crate::window::hold::rows::Rows;
use crate::window::hold::{Hold, RunTimes};
use crate::{Chunk, Next, Op, OpCx};

/// Most rows that wait.
pub const WAITING_MAX: usize = 100_000;

#[derive(Clone, Copy)]
struct Request {
    start: i64,
    end: i64,
    now: i64,
    /// When it is due by the clock at the latest.
    due: i64,
}

/// See the module's doc.
pub struct DedupTrigger {
    /// start, end, now, expire
    args: Box<[RowExpr]>,
    col: Option<u16>,
    /// Spans that were asked for: disjoint, in their order.
    spans: Vec<(i64, i64)>,
    /// Waiting rows, one for each request, in the order of their ends.
    waiting: Vec<(Request, Rows)>,
    keep: Vec<u16>,
    width: usize,
}

impl DedupTrigger {
    /// `args`: the four arguments, and the column of the result.
    pub fn new(mut args: Vec<Expr>, mut keep: Vec<u16>, width: usize) -> Self {
        let col = match args.pop() {
            Some(Expr::Col(col)) => Some(col),
            _ => None,
        };
        keep.retain(|c| Some(*c) != col);
        let args = RowExpr::list(args);
        DedupTrigger { args, col, spans: Vec::new(), waiting: Vec::new(), keep, width }
    }

    fn request(&self, chunk: &Chunk<'_>, row: u32, ocx: &mut OpCx<'_, '_>) -> Result<Request> {
        let times = Times::of(chunk);
        let mut given = [0; 4];
        for ((slot, arg), word) in
            given.iter_mut().zip(&self.args).zip(["start", "end", "now", "expire"])
        {
            *slot = match arg.eval(&chunk.frame, times, row as usize, ocx.cx)? {
                Value::Int(i) | Value::Wide(i) => i,
                Value::Float(f) if f.trunc() == f && f.abs() < 9e15 => f as i64,
                other => {
                    let kind = other.kind_name();
                    return Err(Error::new(format!(
                        "dedup_trigger: {word} must be a whole number, found {kind}"
                    )));
                }
            };
        }
        let [start, end, now, _] = given;
        if start >= end {
            let text = format!("dedup_trigger: the start {start} must lie before the end {end}");
            return Err(Error::new(text));
        }
        let due = ocx.cx.now_ms.saturating_add(end.saturating_sub(now).max(0));
        Ok(Request { start, end, now, due })
    }

    /// The parts of the request's span that are new.
    fn answer(&mut self, request: Request, expire: i64) -> Value {
        let oldest = request.now.saturating_sub(expire);
        self.spans.retain(|(_, end)| *end >= oldest);
        let (start, end) = (request.start.max(oldest), request.end);
        if start >= end {
            return Value::Null;
        }
        let mut parts = Vec::new();
        let mut at = start;
        let (mut from, mut to) = (start, end);
        for (s, e) in self.spans.iter().filter(|(s, e)| *s <= end && *e >= start) {
            if at < *s {
                parts.push((at, *s));
            }
            at = at.max(*e);
            (from, to) = (from.min(*s), to.max(*e));
        }
        if at < end {
            parts.push((at, end));
        }
        self.spans.retain(|(s, e)| *s > end || *e < start);
        let place = self.spans.partition_point(|(s, _)| *s < from);
        self.spans.insert(place, (from, to));
        if parts.is_empty() {
            return Value::Null;
        }
        let part = |(s, e): (i64, i64)| {
            Value::object(Object::from([
                (Str::from("start_key"), Value::from(s.to_string())),
                (Str::from("end_key"), Value::from(e.to_string())),
            ]))
        };
        Value::array(parts.into_iter().map(part).collect())
    }

    /// Answers the requests whose span is over at `now`.
    fn release(&mut self, now: i64, ocx: &mut OpCx<'_, '_>, next: &mut Next<'_>) {
        while self.waiting.first().is_some_and(|(r, _)| r.end <= now) {
            let (request, mut rows) = self.waiting.remove(0);
            let expire = match self.args.get(3).map(|e| &e.expr) {
                Some(Expr::Lit(Value::Int(i))) => *i,
                _ => i64::MAX,
            };
            let column = Column::constant(self.answer(request, expire), rows.total());
            let col = self.col;
            rows.with_rows(Emission::Rows, |chunk| {
                let Chunk { mut frame, stamps, sel, emission, source } = chunk;
                if let Some(col) = col {
                    put(&mut frame, col, &column);
                }
                next.push(Chunk { frame, stamps, sel, emission, source }, ocx);
            });
        }
    }
}

impl Op for DedupTrigger {
    fn push(&mut self, chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        for row in chunk.sel.iter() {
            let request = match self.request(&chunk, *row, ocx) {
                Ok(request) => request,
                Err(error) => {
                    next.error(&error, ocx);
                    continue;
                }
            };
            if self.waiting.len() >= WAITING_MAX {
                next.dropped(1, "dedup_trigger: too many requests wait for their end", ocx);
                continue;
            }
            let mut rows = Rows::new(self.keep.clone(), self.width);
            let stamp = chunk.stamps.get(*row as usize);
            rows.push_rows(&chunk, &[*row], RunTimes::Same(stamp));
            let place = self.waiting.partition_point(|(r, _)| r.end <= request.end);
            self.waiting.insert(place, (request, rows));
            self.release(request.now, ocx, &mut next);
        }
    }

    fn tick(&mut self, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        let now = ocx.cx.now_ms;
        let over = self.waiting.iter().filter(|(r, _)| r.due <= now).map(|(r, _)| r.end).max();
        if let Some(end) = over {
            self.release(end, ocx, &mut next);
        }
    }

    fn deadline(&self) -> Option<i64> {
        self.waiting.iter().map(|(r, _)| r.due).min()
    }

    fn held(&self) -> usize {
        self.waiting.len()
    }

    fn save(&self) -> Value {
        let spans = self.spans.iter().flat_map(|(s, e)| [Value::Int(*s), Value::Int(*e)]);
        let waiting = self.waiting.iter().map(|(r, rows)| {
            let times = [r.start, r.end, r.now, r.due].map(Value::Int);
            Value::array(vec![Value::array(times.to_vec()), rows.save()])
        });
        Value::array(vec![Value::array(spans.collect()), Value::array(waiting.collect())])
    }

    fn load(&mut self, state: &Value) {
        let Some([spans, waiting]) = state.as_array().map(|a| a.as_slice()) else { return };
        let pairs = numbers(spans);
        self.spans = pairs.chunks_exact(2).filter_map(|p| p[0].zip(p[1])).collect();
        self.waiting.clear();
        for item in waiting.as_array().map(|a| a.as_slice()).unwrap_or_default() {
            let Some([times, rows]) = item.as_array().map(|a| a.as_slice()) else { continue };
            if let [Some(start), Some(end), Some(now), Some(due)] = numbers(times)[..] {
                let mut held = Rows::new(self.keep.clone(), self.width);
                held.load(rows);
                self.waiting.push((Request { start, end, now, due }, held));
            }
        }
    }
}
