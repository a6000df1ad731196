//! Result rows as objects, and what they know of the results before them.

use std::sync::Arc;

use rekuiper_expr::Env;
use rekuiper_functions::{Cx, RowTimes};
use rekuiper_ops::frames::Times;
use rekuiper_ops::{Chunk, Emission, NodeStats, Projection};
use rekuiper_value::{Object, Result};

/// What last_hit_count() and its like tell of the results before a row.
#[derive(Clone, Copy)]
pub struct Hits {
    pub before: RowTimes,
    pub event_time: bool,
}

impl Hits {
    /// When result number `at` of the chunk was.
    fn time(&self, chunk: &Chunk<'_>, at: usize, now_ms: i64) -> i64 {
        match (self.event_time, chunk.emission) {
            (false, _) => now_ms,
            (true, Emission::Set(times)) => times.end.unwrap_or(now_ms),
            (true, Emission::Rows) => {
                chunk.stamps.get(chunk.sel.get(at).map_or(0, |r| *r as usize))
            }
        }
    }

    /// The context of result number `at`: its times, and the hits before it.
    pub fn enter(&self, chunk: &Chunk<'_>, at: usize, cx: &mut Cx<'_>) {
        let row = chunk.sel.get(at).map_or(0, |r| *r as usize);
        Times { stamps: chunk.stamps, emission: chunk.emission }.enter(row, cx);
        if at > 0 && chunk.emission == Emission::Rows {
            cx.row.hit_count = self.before.hit_count + at as i64;
            cx.row.hit_time = self.time(chunk, at - 1, cx.now_ms);
        }
    }

    /// What holds after the chunk.
    pub fn after(&self, chunk: &Chunk<'_>, cx: &mut Cx<'_>) {
        cx.row = self.before;
        let rows = chunk.sel.len();
        match chunk.emission {
            Emission::Rows if rows > 0 => {
                cx.row.hit_count += rows as i64;
                cx.row.hit_time = self.time(chunk, rows - 1, cx.now_ms);
            }
            Emission::Rows => {}
            Emission::Set(_) => {
                cx.row.agg_hit_count += 1;
                cx.row.agg_hit_time = self.time(chunk, 0, cx.now_ms);
            }
        }
    }
}

/// Result rows as objects, one list an emission; of rows that fail the error, in their place. They
/// are counted; a set with a failing row is lost as a whole.
pub fn emissions(
    chunk: &Chunk<'_>,
    projection: &Projection,
    cx: &mut Cx<'_>,
    counted: Option<&NodeStats>,
    hits: Hits,
) -> Vec<Result<Arc<Vec<Object>>>> {
    let set = matches!(chunk.emission, Emission::Set(_));
    let mut out = Vec::new();
    let mut list = Vec::new();
    for (at, &row) in chunk.sel.iter().enumerate() {
        if projection.uses_row_context {
            hits.enter(chunk, at, cx);
        }
        match projection.object(Env { frame: &chunk.frame, cx }, row as usize) {
            Ok(object) if set => list.push(object),
            Ok(object) => out.push(Ok(Arc::new(vec![object]))),
            Err(error) => {
                if let Some(project) = counted {
                    project.exception(&error.0, cx.now_ms);
                }
                out.push(Err(error));
                if set {
                    return out;
                }
            }
        }
    }
    if set {
        out.push(Ok(Arc::new(list)));
    }
    out
}
