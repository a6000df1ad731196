//! Result rows as columns: handed over as they stand where the select list is columns and
//! arithmetic, put together from the rows' objects otherwise.

use std::sync::Arc;

use rekuiper_functions::Cx;
use rekuiper_ops::{Chunk, NodeStats, Projection};
use rekuiper_value::batch::SourceColumns;
use rekuiper_value::{Column, Error, Object, Str, Value};

use super::{Hits, emissions};

/// The results of a chunk; `None` where there are none.
pub fn of(
    chunk: &Chunk<'_>,
    projection: &Projection,
    cx: &mut Cx<'_>,
    counted: Option<&NodeStats>,
    hits: Hits,
) -> Option<Arc<SourceColumns>> {
    if let Some(columns) = projection.columns(&chunk.frame, chunk.sel) {
        return (columns.rows > 0).then(|| Arc::new(columns));
    }
    let rows: Vec<Object> = emissions(chunk, projection, cx, counted, hits)
        .into_iter()
        .flat_map(|list| Arc::try_unwrap(list).unwrap_or_else(|shared| Vec::clone(&shared)))
        .collect();
    (!rows.is_empty()).then(|| Arc::new(of_objects(&rows)))
}

/// An error that travels to the sink: a row of its own.
pub fn of_error(error: &Error) -> Arc<SourceColumns> {
    let row = Object::from([("error".into(), Value::str(&*error.0))]);
    Arc::new(of_objects(&[row]))
}

fn of_objects(rows: &[Object]) -> SourceColumns {
    let mut names: Vec<Str> = Vec::new();
    for name in rows.iter().flat_map(|row| row.keys()) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let value = |row: &Object, name: &Str| row.get(name).cloned().unwrap_or_default();
    let column = |name| Column::values(rows.iter().map(|row| value(row, name)).collect());
    let cols = names.iter().map(column).collect();
    SourceColumns { names: names.into(), cols, rows: rows.len() }
}
