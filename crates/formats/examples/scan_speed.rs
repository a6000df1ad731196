//! Prints how long it takes to find four fields in the W1 payload, everything else validated:
//! `cargo run --release -p rekuiper-formats --example scan_speed`.

use std::hint::black_box;
use std::time::Instant;

use rekuiper_formats::scan::{Fault, RowSink, Scanner};
use rekuiper_formats::{DecodeOptions, Decoder};
use rekuiper_value::batch::RawBatch;
use rekuiper_value::{Cell, ColType, Field, Str};

const BATCH: usize = 512;
const ROUNDS: usize = 4000;
/// The best of so many slices counts: others use the machine too.
const SLICES: usize = 80;

#[derive(Default)]
struct Columns(Vec<Vec<Cell>>);

impl RowSink for Columns {
    #[inline]
    fn row(&mut self, cells: &[Cell], _: Cell) -> Result<(), Fault> {
        for (column, cell) in self.0.iter_mut().zip(cells) {
            column.push(*cell);
        }
        Ok(())
    }
}

fn payload(i: usize) -> String {
    format!(
        "{{\"id\":{},\"device\":\"dev-{:04}\",\"ts\":{},\"temp\":{}.{},\"humidity\":45.1,\
         \"speed\":12.5,\"status\":\"ok\",\"line\":{{\"site\":\"a\",\"cell\":7}}}}",
        1_000_000_000 + i,
        i % 1000,
        1_700_000_000_000usize + i,
        18 + i % 8,
        i % 10
    )
}

fn measure(label: &str, names: &[&str], texts: &[String]) {
    let mut bytes = Vec::new();
    let mut spans = Vec::new();
    for text in texts {
        let at = bytes.len();
        bytes.extend_from_slice(text.as_bytes());
        spans.push((at, bytes.len()));
        bytes.extend_from_slice(b"xxxxtopic");
    }
    let names: Vec<Str> = names.iter().map(|n| Str::from(*n)).collect();
    let mut scanner = Scanner::new(&names);
    let mut best = f64::MAX;
    for _ in 0..SLICES {
        let start = Instant::now();
        for _ in 0..ROUNDS / SLICES {
            let mut columns = Columns(vec![Vec::with_capacity(BATCH); names.len()]);
            for (from, to) in &spans {
                if scanner.payload(black_box(&bytes), *from, *to, &mut columns).is_err() {
                    println!("malformed");
                }
            }
            black_box(&columns.0);
        }
        let nanos = start.elapsed().as_nanos() as f64 / (ROUNDS / SLICES * texts.len()) as f64;
        best = best.min(nanos);
    }
    println!("{label}: {best:.1} ns a message of {} bytes", texts[0].len());
}

/// The same through a decoder: columns made, batch and all.
fn measure_decoder(label: &str, options: DecodeOptions, names: &[&str], texts: &[String]) {
    let mut decoder = Decoder::new(options).expect("good options");
    let fields: Vec<Option<Field>> =
        names.iter().map(|n| Some(Field::Named(Str::from(*n)))).collect();
    decoder.set_fields(&fields);
    let payloads: Vec<&[u8]> = texts.iter().map(|t| t.as_bytes()).collect();
    let raw = RawBatch::of_payloads(&payloads, 0);
    let mut best = f64::MAX;
    for _ in 0..SLICES {
        let start = Instant::now();
        for _ in 0..ROUNDS / SLICES {
            black_box(decoder.decode(black_box(raw.clone())));
        }
        let nanos = start.elapsed().as_nanos() as f64 / (ROUNDS / SLICES * texts.len()) as f64;
        best = best.min(nanos);
    }
    println!("{label}: {best:.1} ns a message");
}

fn main() {
    let texts: Vec<String> = (0..BATCH).map(payload).collect();
    let needed = ["id", "device", "temp", "speed"];
    measure("W1, 4 fields", &needed, &texts);
    let spaced: Vec<String> =
        texts.iter().map(|t| t.replace(':', ": ").replace(",\"", ", \"")).collect();
    measure("W1 with blanks, 4 fields", &needed, &spaced);
    measure(
        "W1, all fields",
        &["id", "device", "ts", "temp", "humidity", "speed", "status", "line"],
        &texts,
    );
    let mixed: Vec<String> = texts
        .iter()
        .enumerate()
        .map(|(i, t)| if i % 2 == 0 { t.clone() } else { t.replace("\"status\":\"ok\",", "") })
        .collect();
    measure("W1, a member missing in every other", &needed, &mixed);
    let uneven: Vec<String> = (0..BATCH)
        .map(|i| {
            let scrambled = i.wrapping_mul(2_654_435_761) >> 7;
            texts[i].replace("12.5", &format!("{}", scrambled % 4000)).replace("45.1", "9.75")
        })
        .collect();
    measure("W1, one field of uneven length", &needed, &uneven);
    measure_decoder("W1 decoded", DecodeOptions::default(), &needed, &texts);
    let schema = [("id", ColType::Bigint), ("device", ColType::String), ("temp", ColType::Float)];
    let schema = schema.into_iter().map(|(n, t)| (Str::from(n), t)).collect();
    let typed = DecodeOptions { schema: Some(schema), ..Default::default() };
    measure_decoder("W1 decoded, declared columns", typed, &needed, &texts);
}
