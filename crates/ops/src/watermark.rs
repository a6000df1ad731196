//! Event time: puts rows into the order of their timestamps and says how far time has come.
//!
//! The watermark is the least, over all streams of the rule, of the stream's highest timestamp,
//! minus the tolerance; a stream without any row yet holds everything back. A row before the
//! watermark is late: it is dropped and counted. All others wait until the watermark has reached
//! them.
//!
//! Holds the waiting rows, at most [`HELD_MAX`]: beyond that, rows that would have to wait are
//! dropped and counted as well. One stream that stands still must not take all memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rekuiper_value::Value;

use crate::chunk::Emission;
use crate::window::assign::{number, numbers};
use crate::window::hold::rows::Rows;
use crate::window::hold::{Hold, RunTimes};
use crate::{Chunk, Next, Op, OpCx};

/// Most rows that wait.
pub const HELD_MAX: usize = 1_000_000;

/// Places of rows that have left are used again once there are so many.
const SLACK: usize = 1024;

/// See the module's doc.
pub struct Watermark {
    tolerance: i64,
    /// The highest timestamp of each source; the outer `None`: no stream, it does not count.
    highest: Vec<Option<Option<i64>>>,
    at: i64,
    rows: Rows,
    /// Timestamp and place of each waiting row. Places grow with arrival.
    waiting: BinaryHeap<Reverse<(i64, u32)>>,
}

impl Watermark {
    /// `streams`: for each source whether it is a stream.
    pub fn new(tolerance: i64, streams: Vec<bool>, keep: Vec<u16>, width: usize) -> Self {
        Watermark {
            tolerance,
            highest: streams.into_iter().map(|is| is.then_some(None)).collect(),
            at: i64::MIN,
            rows: Rows::new(keep, width),
            waiting: BinaryHeap::new(),
        }
    }

    /// Notes a row's timestamp; whether it is in time.
    fn see(&mut self, source: usize, ts: i64) -> bool {
        if ts < self.at {
            return false;
        }
        if let Some(Some(highest)) = self.highest.get_mut(source) {
            *highest = Some(highest.map_or(ts, |h| h.max(ts)));
        }
        let least = self.highest.iter().flatten().copied().min().flatten();
        if let Some(least) = least {
            self.at = self.at.max(least.saturating_sub(self.tolerance));
        }
        true
    }

    /// Hands on what the watermark has reached.
    fn release(&mut self, ocx: &mut OpCx<'_, '_>, next: &mut Next<'_>) {
        let mut out = Vec::new();
        while let Some(Reverse((ts, place))) = self.waiting.peek().copied() {
            if ts > self.at {
                break;
            }
            self.waiting.pop();
            out.push(place);
        }
        if out.is_empty() {
            return;
        }
        self.rows.emit_rows(|sel| sel.extend(&out), Emission::Rows, ocx, next);
        let live = self.waiting.len();
        if live == 0 {
            self.rows.keep_from(self.rows.total());
        } else if self.rows.total() > 2 * live + SLACK {
            let mut left: Vec<(i64, u32)> = self.waiting.drain().map(|Reverse(w)| w).collect();
            left.sort_unstable_by_key(|(_, place)| *place);
            let order: Vec<usize> = left.iter().map(|(_, place)| *place as usize).collect();
            self.rows.keep_only(&order);
            let anew = left.iter().enumerate().map(|(at, (ts, _))| Reverse((*ts, at as u32)));
            self.waiting = anew.collect();
        }
    }
}

impl Op for Watermark {
    fn push(&mut self, chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        let before = self.at;
        let mut late = 0;
        let mut full = 0;
        // one stream in order: rows need not wait, and are not copied
        let mut passes = self.waiting.is_empty();
        let mut last = i64::MIN;
        let mut kept: Vec<(u32, i64)> = Vec::with_capacity(chunk.sel.len());
        for row in chunk.sel.iter() {
            let ts = chunk.stamps.get(*row as usize);
            if !self.see(chunk.source.of(*row), ts) {
                late += 1;
                continue;
            }
            passes &= ts >= last && ts <= self.at;
            last = ts;
            kept.push((*row, ts));
        }
        if late > 0 {
            next.dropped(late, "late: the watermark has passed the row's timestamp", ocx);
        }
        if passes {
            let Chunk { frame, stamps, sel, emission, source } = chunk;
            sel.clear();
            sel.extend(kept.iter().map(|(row, _)| *row));
            next.push(Chunk { frame, stamps, sel, emission, source }, ocx);
        } else {
            for (row, ts) in kept {
                if self.waiting.len() >= HELD_MAX && ts > self.at {
                    full += 1;
                    continue;
                }
                let place = self.rows.total() as u32;
                self.rows.push_rows(&chunk, &[row], RunTimes::Same(ts));
                self.waiting.push(Reverse((ts, place)));
            }
            if full > 0 {
                next.dropped(full, "too many rows wait for the watermark of another stream", ocx);
            }
            self.release(ocx, &mut next);
        }
        if self.at > before {
            next.watermark(self.at, ocx);
        }
    }

    fn held(&self) -> usize {
        self.waiting.len()
    }

    fn save(&self) -> Value {
        let mut waiting: Vec<(i64, u32)> = self.waiting.iter().map(|Reverse(w)| *w).collect();
        waiting.sort_unstable_by_key(|(_, place)| *place);
        let highest = self.highest.iter().map(|h| number(h.flatten())).collect();
        let pairs = waiting.iter().flat_map(|(ts, p)| [Value::Int(*ts), Value::Int((*p).into())]);
        Value::array(vec![
            Value::array(highest),
            Value::Int(self.at),
            self.rows.save(),
            Value::array(pairs.collect()),
        ])
    }

    fn load(&mut self, state: &Value) {
        let Some([highest, Value::Int(at), rows, waiting]) =
            state.as_array().map(|a| a.as_slice())
        else {
            return;
        };
        for (slot, saved) in self.highest.iter_mut().zip(numbers(highest)) {
            if let Some(slot) = slot {
                *slot = saved;
            }
        }
        self.at = *at;
        self.rows.load(rows);
        let pairs = numbers(waiting);
        let pairs = pairs.chunks_exact(2).filter_map(|p| Some((p[0]?, u32::try_from(p[1]?).ok()?)));
        self.waiting = pairs.map(Reverse).collect();
    }
}
