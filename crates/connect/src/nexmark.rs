//! `nexmark`: rows of an auction house (persons, auctions, bids) at a steady rate, for trials. The
//! rows depend on their number alone, so that two runs give the same.

use std::sync::Arc;

use rekuiper_value::batch::{Payloads, RawBatch, SourceRow};
use rekuiper_value::{Object, Str, Value};

use crate::traits::{BoxFuture, Opened, Source, SourceCx, SourceOut};
use crate::{ConnectError, ConnectorDef, Props};

pub static CONNECTOR: ConnectorDef =
    ConnectorDef { name: "nexmark", source: Some(source), sink: None, lookup: None };

/// Of 50 events one is a person, three are auctions, the others bids.
const ROUND: u64 = 50;

/// Pause between two batches.
const TICK_MS: i64 = 100;

const RATE_MAX: i64 = 10_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Person,
    Auction,
    Bid,
}

fn source(_datasource: &str, props: &Props) -> Result<Opened, ConnectError> {
    let rate = props.int("qps", 1)?;
    if !(1..=RATE_MAX).contains(&rate) {
        return Err(ConnectError::config(format!(
            "property qps must be rows a second from 1 to {RATE_MAX}, found {rate}"
        )));
    }
    let mut left_out = Vec::new();
    for (key, kind) in [
        ("excludePerson", Kind::Person),
        ("excludeAuction", Kind::Auction),
        ("excludeBid", Kind::Bid),
    ] {
        if props.bool(key, false)? {
            left_out.push(kind);
        }
    }
    if left_out.len() == 3 {
        return Err(ConnectError::config("nexmark source excludes every kind of row"));
    }
    Ok(Opened::Source(Box::new(Nexmark { rate, left_out })))
}

struct Nexmark {
    rate: i64,
    left_out: Vec<Kind>,
}

impl Source for Nexmark {
    fn gives_rows(&self) -> bool {
        true
    }

    fn run<'a>(
        self: Box<Self>,
        cx: SourceCx,
        out: SourceOut,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        Box::pin(async move {
            let start = cx.clock.now_ms();
            cx.status.connected(start);
            let meta = Some(Arc::new(Object::from([("topic".into(), Value::str("nexmark"))])));
            let (mut event, mut sent) = (0u64, 0i64);
            loop {
                let ts = cx.clock.now_ms();
                // rows due by now; after a stall at most one second's are made up for
                let due = (ts - start) * self.rate / 1000 + 1;
                sent = sent.max(due - self.rate.max(1));
                let mut rows = Vec::new();
                while sent < due && rows.len() < rekuiper_rt::limits::BATCH_MESSAGES_MAX {
                    let (kind, data) = row(event, ts);
                    event += 1;
                    if !self.left_out.contains(&kind) {
                        rows.push(SourceRow { data: Arc::new(data), meta: None, ts });
                        sent += 1;
                    }
                }
                let full = sent < due;
                if !rows.is_empty() {
                    let payloads = Payloads::Rows(rows);
                    let batch = RawBatch { payloads, meta: meta.clone(), ts, ack: None };
                    if out.send(batch).await.is_err() {
                        return Ok(());
                    }
                }
                if !full {
                    cx.clock.sleep_until(ts + TICK_MS.max(1000 / self.rate)).await;
                }
            }
        })
    }
}

/// A number that looks random, from the event's number and what it is for.
fn mixed(event: u64, salt: u64) -> u64 {
    let mut x =
        event.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ salt.wrapping_mul(0xD1B5_4A32_D192_ED03);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

fn row(event: u64, now_ms: i64) -> (Kind, Object) {
    const FIRST: [&str; 6] = ["Ada", "Emmy", "Grace", "Kurt", "Noor", "Yuki"];
    const LAST: [&str; 6] = ["Berg", "Diaz", "Haas", "Kim", "Okoro", "Silva"];
    const PLACES: [(&str, &str); 4] =
        [("Boise", "ID"), ("Bend", "OR"), ("Reno", "NV"), ("Seattle", "WA")];
    let pick = |salt, of: u64| mixed(event, salt) % of.max(1);
    let (round, place) = (event / ROUND, event % ROUND);
    let number = |n: u64| Value::Int(n as i64);
    let text = |t: String| Value::Str(Str::from(t));
    let time = Value::Int(now_ms);
    // ids of rows that exist already: a person and three auctions a round
    let (persons, auctions) = (round + 1, round * 3 + place.saturating_sub(1).min(3));
    match place {
        0 => {
            let (first, last) = (FIRST[pick(1, 6) as usize], LAST[pick(2, 6) as usize]);
            let (city, state) = PLACES[pick(3, 4) as usize];
            let email = format!("{}.{}@example.com", first.to_lowercase(), last.to_lowercase());
            let members = [
                ("id", number(1000 + round)),
                ("name", text(format!("{first} {last}"))),
                ("emailAddress", text(email)),
                ("creditCard", text(format!("{:016}", pick(4, 10_000_000_000_000_000)))),
                ("city", Value::str(city)),
                ("state", Value::str(state)),
                ("dateTime", time),
            ];
            (Kind::Person, members.into_iter().map(|(k, v)| (k.into(), v)).collect())
        }
        1..=3 => {
            let first_bid = 1 + pick(5, 1000);
            let members = [
                ("id", number(1000 + auctions)),
                ("itemName", text(format!("item {}", pick(6, 10_000)))),
                ("description", Value::str("as new")),
                ("initialBid", number(first_bid)),
                ("reserve", number(first_bid + pick(7, 1000))),
                ("seller", number(1000 + pick(8, persons))),
                ("category", number(10 + pick(9, 5))),
                ("dateTime", time),
                ("expires", Value::Int(now_ms + 1000 + pick(10, 20_000) as i64)),
            ];
            (Kind::Auction, members.into_iter().map(|(k, v)| (k.into(), v)).collect())
        }
        _ => {
            let members = [
                ("auction", number(1000 + pick(11, auctions))),
                ("bidder", number(1000 + pick(12, persons))),
                ("price", number(1 + pick(13, 10_000))),
                ("dateTime", time),
            ];
            (Kind::Bid, members.into_iter().map(|(k, v)| (k.into(), v)).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{World, error_of, props, source_of};

    #[tokio::test]
    async fn rows_come_at_their_rate() {
        let world = World::new();
        let conf = json!({"qps": 1000, "excludePerson": true});
        let mut running = world.run(source_of(source("", &props(conf))));
        assert_eq!(running.batch().await.len(), 1);
        assert!(running.is_silent().await);
        world.hand.advance(100);
        let rows = running.texts().await;
        assert_eq!(rows.len(), 100);
        assert!(rows.iter().all(|r| !r.contains("emailAddress")));
        assert!(rows.iter().any(|r| r.contains(r#"{"auction":10"#)), "{rows:?}");
    }

    #[test]
    fn the_same_in_every_run() {
        assert_eq!(row(7, 1).1, row(7, 1).1);
        let kinds: Vec<usize> = [Kind::Person, Kind::Auction, Kind::Bid]
            .iter()
            .map(|kind| (0..100).filter(|n| row(*n, 1).0 == *kind).count())
            .collect();
        assert_eq!(kinds, [2, 6, 92]);
        assert!(error_of(source("", &props(json!({"qps": 0})))).text.contains("qps"));
    }
}
