//! Helpers: payload texts in, rows as text out.

use rekuiper_formats::{DecodeOptions, Decoder};
use rekuiper_value::batch::RawBatch;
use rekuiper_value::{Batch, ColType, Field, Str};

pub fn named(names: &[&str]) -> Vec<Option<Field>> {
    names.iter().map(|n| Some(Field::Named(Str::from(*n)))).collect()
}

/// A typed schema from `a bigint, b float`.
#[allow(dead_code)]
pub fn schema(columns: &[(&str, ColType)]) -> Option<Vec<(Str, ColType)>> {
    Some(columns.iter().map(|(n, t)| (Str::from(*n), t.clone())).collect())
}

pub fn decode(options: DecodeOptions, fields: &[Option<Field>], payloads: &[&[u8]]) -> Batch {
    let mut decoder = Decoder::new(options).unwrap();
    decoder.set_fields(fields);
    decoder.decode(RawBatch::of_payloads(payloads, 1000))
}

/// Rows as lines of JSON columns, `-` for a missing one; errors as `! text` where they stood.
pub fn show(batch: &Batch) -> String {
    let mut out = String::new();
    for row in 0..=batch.rows {
        for (_, error) in batch.errors.iter().filter(|(at, _)| *at as usize == row) {
            out += &format!("! {error}\n");
        }
        if row == batch.rows {
            break;
        }
        let cols: Vec<String> = batch
            .cols
            .iter()
            .map(|col| {
                if col.is_missing(row) {
                    return "-".into();
                }
                let mut json = Vec::new();
                col.write_json(row, &mut json).unwrap();
                String::from_utf8(json).unwrap()
            })
            .collect();
        out += &cols.join(" ");
        out += "\n";
    }
    out
}

#[allow(dead_code)]
pub fn run(options: DecodeOptions, fields: &[Option<Field>], payloads: &[&str]) -> String {
    let payloads: Vec<&[u8]> = payloads.iter().map(|p| p.as_bytes()).collect();
    show(&decode(options, fields, &payloads))
}
