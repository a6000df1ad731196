//! Result rows as columns: handed over as they stand where the select list is columns and
//! arithmetic, put together from the rows' objects otherwise.

use std::sync::Arc;

use rekuiper_functions::Cx;
use rekuiper_ops::{Chunk, NodeStats, Projection};
use rekuiper_value::batch::SourceColumns;
use rekuiper_value::{Column, Error, Object, Str, Value};

use super::{Hits, emissions};

/// What a chunk gives.
#[derive(Default)]
pub struct Results {
    /// Results in their order; errors among them where they are sent.
    pub columns: Vec<Arc<SourceColumns>>,
    /// Rows that are results.
    pub rows: usize,
}

impl Results {
    pub fn of(
        chunk: &Chunk<'_>,
        projection: &Projection,
        cx: &mut Cx<'_>,
        counted: Option<&NodeStats>,
        hits: Hits,
        send_error: bool,
    ) -> Results {
        let mut results = Results::default();
        if let Some(columns) = projection.columns(&chunk.frame, chunk.sel) {
            results.add(columns);
            return results;
        }
        let mut rows: Vec<Object> = Vec::new();
        for emission in emissions(chunk, projection, cx, counted, hits) {
            match emission {
                Ok(list) => rows.extend(Arc::unwrap_or_clone(list)),
                Err(error) if send_error => {
                    results.add(of_objects(&std::mem::take(&mut rows)));
                    results.columns.push(of_error(&error));
                }
                Err(_) => {}
            }
        }
        results.add(of_objects(&rows));
        results
    }

    fn add(&mut self, columns: SourceColumns) {
        if columns.rows > 0 {
            self.rows += columns.rows;
            self.columns.push(Arc::new(columns));
        }
    }
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
