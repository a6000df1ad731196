//! Small helpers around frames: computed columns, and the context of a row.

use std::sync::LazyLock;

use rekuiper_expr::{Env, Expr, Frame};
use rekuiper_functions::Cx;
use rekuiper_value::batch::Stamps;
use rekuiper_value::{Column, Result, Value};

use crate::{Chunk, Emission};

static NOTHING: LazyLock<Column> = LazyLock::new(|| Column::missing(0));

/// A column that is `Missing` in every row.
pub fn nothing() -> &'static Column {
    &NOTHING
}

/// The frame with `column` at `col`; gaps before it are missing columns.
pub fn put<'a>(frame: &mut Frame<'a>, col: u16, column: &'a Column) {
    while frame.width() <= usize::from(col) {
        frame.push(nothing());
    }
    frame.replace(col, column);
}

/// A frame of `width` columns with `columns[i]` at `places[i]`.
pub fn spread<'a>(
    places: &[u16],
    columns: impl IntoIterator<Item = &'a Column>,
    width: usize,
    rows: usize,
) -> Frame<'a> {
    let mut frame = Frame::new(std::iter::repeat_n(nothing(), width), rows);
    for (col, column) in places.iter().zip(columns) {
        put(&mut frame, *col, column);
    }
    frame
}

/// Columns of the given rows, in that order; a row may come several times. Cells are not copied.
pub fn gather(frame: &Frame<'_>, cols: &[u16], rows: &[u32]) -> Vec<Column> {
    let column = |col: &u16| match frame.col(*col) {
        None => Column::missing(rows.len()),
        Some(column) => match column.as_cells() {
            Some((cells, _)) => {
                let cell = |row: &u32| cells.get(*row as usize).copied().unwrap_or_default();
                let picked = rows.iter().map(cell).collect();
                Column::cells(column.bytes().clone(), picked, column.is_ints())
            }
            None => Column::values(rows.iter().map(|row| column.value(*row as usize)).collect()),
        },
    };
    cols.iter().map(column).collect()
}

/// Functions whose answer hangs on the row's own times or on hit counters.
const OF_THE_ROW: &[&str] = &[
    "event_time",
    "window_start",
    "window_end",
    "window_trigger",
    "last_hit_count",
    "last_hit_time",
    "last_agg_hit_count",
    "last_agg_hit_time",
];

/// Whether an expression asks for the times of the row at hand.
pub fn asks_for_row(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| {
        if let Expr::Call { def, .. } = e {
            found |= OF_THE_ROW.contains(&def.name);
        }
    });
    found
}

/// Whether an expression asks how many results there were before the row at hand.
pub fn asks_for_hits(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| {
        if let Expr::Call { def, .. } = e {
            found |= def.name.starts_with("last_hit_") || def.name.starts_with("last_agg_hit_");
        }
    });
    found
}

/// What of a chunk the context of a row is made of.
#[derive(Clone, Copy)]
pub struct Times<'a> {
    pub stamps: &'a Stamps,
    pub emission: Emission,
}

impl<'a> Times<'a> {
    pub fn of(chunk: &Chunk<'a>) -> Self {
        Times { stamps: chunk.stamps, emission: chunk.emission }
    }

    /// Puts the times of a row into the context. A window's rows share those of the window.
    pub fn enter(&self, row: usize, cx: &mut Cx<'_>) {
        match self.emission {
            Emission::Rows => cx.row.event = self.stamps.get(row),
            Emission::Set(times) => {
                cx.row.event = times.end.unwrap_or_else(|| self.stamps.get(row));
                cx.row.window_start = times.start;
                cx.row.window_end = times.end;
                cx.row.window_trigger = times.trigger;
            }
        }
    }
}

/// An expression that is given the row's own times where it asks for them.
pub struct RowExpr {
    pub expr: Expr,
    asks: bool,
}

impl RowExpr {
    pub fn new(expr: Expr) -> Self {
        let asks = asks_for_row(&expr);
        RowExpr { expr, asks }
    }

    pub fn list(exprs: Vec<Expr>) -> Box<[RowExpr]> {
        exprs.into_iter().map(RowExpr::new).collect()
    }

    pub fn asks(&self) -> bool {
        self.asks
    }

    pub fn eval(
        &self,
        frame: &Frame<'_>,
        times: Times<'_>,
        row: usize,
        cx: &mut Cx<'_>,
    ) -> Result<Value> {
        if let Expr::Col(col) = &self.expr {
            return Ok(frame.value(*col, row));
        }
        if self.asks {
            times.enter(row, cx);
        }
        self.expr.eval(Env { frame, cx }, row)
    }
}
