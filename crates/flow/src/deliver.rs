//! Putting payloads into a sink's queue.

use rekuiper_connect::SinkBatch;
use rekuiper_rt::Clock;
use rekuiper_rt::limits::SINK_STUCK_MS;
use rekuiper_rt::queue::{Refused, Sender};

use crate::sink::{SinkHandle, SinkStats};

/// The way to one sink.
pub struct Port {
    /// `None`: the sink is called at once.
    tx: Option<Sender<SinkBatch>>,
    handle: SinkHandle,
    /// Wait for ever instead of dropping when the sink is stuck (disableBufferFullDiscard).
    never_drop: bool,
    /// Since when, and at how many batches taken, the sink has not moved.
    stuck: Option<(i64, u64)>,
}

impl Port {
    pub fn new(tx: Option<Sender<SinkBatch>>, handle: SinkHandle, never_drop: bool) -> Self {
        Port { tx, handle, never_drop, stuck: None }
    }

    pub fn stats(&self) -> &SinkStats {
        &self.handle.stats
    }

    pub fn into_handle(self) -> SinkHandle {
        self.handle
    }

    /// Waits for room as long as the sink moves. One that has taken nothing for
    /// [`SINK_STUCK_MS`] loses its oldest payloads, which are counted as its exceptions.
    pub async fn deliver(&mut self, batch: SinkBatch, clock: &Clock) {
        let now = clock.now_ms();
        let payloads = batch.len() as u64;
        let stats = self.stats();
        stats.transform.add_out(payloads);
        stats.encode.add_in(payloads, now);
        stats.encode.add_out(payloads);
        stats.sink.add_in(payloads, now);
        let Some(mut batch) = self.handle.write(batch, clock).await else { return };
        if self.stats().owes_nothing() {
            batch.ack = None;
        }
        let Some(tx) = &self.tx else { return };
        loop {
            match tx.try_send(batch) {
                Ok(()) => {
                    // room that a drop made does not mean that the sink moves again
                    if self.stuck.is_some_and(|(_, taken)| taken != tx.taken()) {
                        self.stuck = None;
                    }
                    self.handle.wake();
                    return;
                }
                Err(Refused::Closed(_)) => return,
                Err(Refused::Full(back)) => batch = back,
            }
            let (since, taken) = *self.stuck.get_or_insert((clock.now_ms(), tx.taken()));
            if taken != tx.taken() {
                self.stuck = Some((clock.now_ms(), tx.taken()));
                continue;
            }
            if !self.never_drop && clock.now_ms() - since >= SINK_STUCK_MS {
                if let Ok(dropped) = tx.send_dropping(batch) {
                    let text = format!("buffer full, dropped {dropped} of the oldest results");
                    self.stats().sink.exceptions_of(dropped, &text, clock.now_ms());
                }
                self.handle.wake();
                return;
            }
            if self.never_drop {
                tx.freed().await;
                continue;
            }
            tokio::select! {
                _ = tx.freed() => {}
                _ = clock.sleep_until(since + SINK_STUCK_MS) => {}
            }
        }
    }
}
