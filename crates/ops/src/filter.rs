//! WHERE: keeps the rows for which a condition is true.
//!
//! Of single rows a failing one is lost alone; where a window's rows stand together, an error loses
//! the result. A set of which nothing is left is no result, and neither is one that was empty
//! before. Holds nothing.

use rekuiper_expr::{CmpOp, Env, Expr, Predicate, truth};
use rekuiper_value::Error;

use crate::frames::{Times, asks_for_row};
use crate::{Chunk, Next, Op, OpCx};

/// A condition over a chunk's rows.
pub struct Condition(Test);

enum Test {
    Batch(Predicate),
    /// Asks for the row's own times.
    Row(Expr),
}

impl Condition {
    pub fn new(condition: Expr) -> Self {
        Condition(match asks_for_row(&condition) {
            true => Test::Row(condition),
            false => Test::Batch(Predicate::new(condition)),
        })
    }

    /// See [`Op::threshold`].
    pub fn threshold(&self) -> Option<(u16, CmpOp, f64)> {
        match &self.0 {
            Test::Batch(predicate) => predicate.threshold(),
            Test::Row(_) => None,
        }
    }

    /// Takes out of the selection what does not hold; the errors of rows go to `on_error`.
    pub fn select(
        &self,
        chunk: &mut Chunk<'_>,
        ocx: &mut OpCx<'_, '_>,
        on_error: &mut dyn FnMut(u32, Error),
    ) {
        match &self.0 {
            Test::Batch(predicate) => {
                let env = Env { frame: &chunk.frame, cx: ocx.cx };
                predicate.select(env, chunk.sel, on_error);
            }
            Test::Row(condition) => {
                let times = Times::of(chunk);
                let frame = &chunk.frame;
                chunk.sel.retain(|&row| {
                    times.enter(row as usize, ocx.cx);
                    truth(condition, Env { frame, cx: ocx.cx }, row as usize).unwrap_or_else(|e| {
                        on_error(row, e);
                        false
                    })
                });
            }
        }
    }
}

/// See the module's doc.
pub struct Filter(Condition);

impl Filter {
    pub fn new(condition: Expr) -> Self {
        Filter(Condition::new(condition))
    }
}

/// Hands on the rows before the last error, each error in its place; what follows stays in.
fn push_around(
    errors: &[(u32, Error)],
    chunk: &mut Chunk<'_>,
    ocx: &mut OpCx<'_, '_>,
    next: &mut Next<'_>,
) {
    for (row, error) in errors {
        if ocx.send_error {
            let behind = chunk.sel.partition_point(|r| r < row);
            let mut before: Vec<u32> = chunk.sel.drain(..behind).collect();
            let frame = chunk.frame.clone();
            next.push(Chunk { frame, sel: &mut before, ..*chunk }, ocx);
        }
        next.error(error, ocx);
    }
}

impl Op for Filter {
    fn orders_errors(&self) -> bool {
        true
    }

    fn threshold(&self) -> Option<(u16, CmpOp, f64)> {
        self.0.threshold()
    }

    fn push(&mut self, mut chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        if !chunk.emission.is_set() {
            let mut errors = Vec::new();
            self.0.select(&mut chunk, ocx, &mut |row, e| errors.push((row, e)));
            if !errors.is_empty() {
                push_around(&errors, &mut chunk, ocx, &mut next);
            }
            return next.push(chunk, ocx);
        }
        let mut failed = None;
        self.0.select(&mut chunk, ocx, &mut |_, e| {
            failed.get_or_insert(e);
        });
        if let Some(error) = failed {
            return next.error(&error, ocx);
        }
        if !chunk.sel.is_empty() {
            next.push(chunk, ocx);
        }
    }
}
