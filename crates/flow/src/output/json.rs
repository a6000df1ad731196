//! Result rows as JSON, straight from the columns into a sink's buffer.

use rekuiper_expr::Env;
use rekuiper_functions::Cx;
use rekuiper_ops::{Chunk, Emission, NodeStats, Projection};
use rekuiper_value::{Error, Result};

use super::{Hits, Ready};

/// See the module's doc.
pub struct JsonWriter<'a> {
    pub ready: &'a mut Ready,
    pub single: bool,
    pub omit_if_empty: bool,
    pub counted: Option<&'a NodeStats>,
    pub hits: Hits,
    pub send_error: bool,
    /// Errors of single rows that stand among the payloads, in the place of the row.
    pub told: usize,
    /// Errors of a set, which is lost.
    pub errors: Vec<Error>,
}

impl JsonWriter<'_> {
    pub fn write(&mut self, chunk: &Chunk<'_>, projection: &Projection, cx: &mut Cx<'_>) {
        match chunk.emission {
            Emission::Rows => self.rows(chunk, projection, cx),
            Emission::Set(_) => self.set(chunk, projection, cx),
        }
    }

    fn rows(&mut self, chunk: &Chunk<'_>, projection: &Projection, cx: &mut Cx<'_>) {
        let set = matches!(chunk.emission, Emission::Set(_));
        let writer = projection.writer(&chunk.frame, chunk.sel);
        for (at, &row) in chunk.sel.iter().enumerate() {
            if projection.uses_row_context {
                self.hits.enter(chunk, at, cx);
            }
            let start = self.ready.buf.len();
            if !self.single {
                self.ready.buf.push(b'[');
            }
            let env = Env { frame: &chunk.frame, cx };
            let done = writer.write_json(env, at, row as usize, &mut self.ready.buf);
            self.finish(start, done, set, cx.now_ms);
        }
    }

    fn failed(&mut self, error: Error, set: bool, now_ms: i64) {
        if let Some(project) = self.counted {
            project.exception(&error.0, now_ms);
        }
        match (set, self.send_error) {
            (true, _) => self.errors.push(error),
            (false, true) => {
                self.ready.text(&error.0);
                self.told += 1;
            }
            (false, false) => {}
        }
    }

    fn finish(&mut self, start: usize, done: Result<()>, set: bool, now_ms: i64) {
        let empty = self.omit_if_empty && self.ready.buf.len() - start == 2 && self.single;
        match done {
            Ok(()) if !empty => {
                if !self.single {
                    self.ready.buf.push(b']');
                }
                self.ready.end();
            }
            Ok(()) => self.ready.buf.truncate(start),
            Err(error) => {
                self.ready.buf.truncate(start);
                self.failed(error, set, now_ms);
            }
        }
    }

    fn set(&mut self, chunk: &Chunk<'_>, projection: &Projection, cx: &mut Cx<'_>) {
        if self.single {
            let ends = self.ready.ends.len();
            let start = self.ready.buf.len();
            self.rows(chunk, projection, cx);
            if !self.errors.is_empty() {
                self.ready.buf.truncate(start);
                self.ready.ends.truncate(ends);
            }
            return;
        }
        if self.omit_if_empty && chunk.sel.is_empty() {
            return;
        }
        let start = self.ready.buf.len();
        self.ready.buf.push(b'[');
        let writer = projection.writer(&chunk.frame, chunk.sel);
        for (at, &row) in chunk.sel.iter().enumerate() {
            if at > 0 {
                self.ready.buf.push(b',');
            }
            if projection.uses_row_context {
                self.hits.enter(chunk, at, cx);
            }
            let env = Env { frame: &chunk.frame, cx };
            if let Err(error) = writer.write_json(env, at, row as usize, &mut self.ready.buf) {
                self.ready.buf.truncate(start);
                self.failed(error, true, cx.now_ms);
                return;
            }
        }
        self.ready.buf.push(b']');
        if self.omit_if_empty && &self.ready.buf[start..] == b"[{}]" {
            return self.ready.buf.truncate(start); // an empty window's aggregates
        }
        self.ready.end();
    }
}
