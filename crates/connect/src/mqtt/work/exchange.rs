//! What goes over a connection that stands: messages to their subscriptions, acknowledgements back.

use rekuiper_mqtt_codec::{Ack, Packet, topic_matches};
use rekuiper_rt::Pause;
use rekuiper_value::batch::{Msg, Payloads, RawBatch};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::time::Instant;

use super::{End, Work};
use crate::mqtt::acks::Done;
use crate::mqtt::client::Subscription;
use crate::mqtt::pace::{Came, Next, Pace};
use crate::mqtt::reader::Taken;
use crate::mqtt::stream::{Twin, Transport};

impl Work {
    pub(super) async fn serve(
        &mut self,
        mut read: ReadHalf<Box<dyn Transport>>,
        mut write: WriteHalf<Box<dyn Transport>>,
        twin: Twin,
    ) -> End {
        for at in 0..self.subscriptions.len() {
            if let Err(e) = self.put_subscribe(at) {
                return e;
            }
        }
        let mut pings = tokio::time::interval(self.keep_alive.mul_f32(0.75));
        pings.reset();
        match self.exchange(&mut read, &mut write, &twin, &mut pings).await {
            Ok(()) => End::Finished,
            Err(end) => end,
        }
    }

    async fn exchange(
        &mut self,
        read: &mut ReadHalf<Box<dyn Transport>>,
        write: &mut WriteHalf<Box<dyn Transport>>,
        twin: &Twin,
        pings: &mut tokio::time::Interval,
    ) -> Result<(), End> {
        let (mut pace, mut pause) = (Pace::new(Instant::now()), Pause::new());
        let mut fresh = None;
        loop {
            let came = self.take_in(write, pings).await?;
            self.outgoing.fill(&mut self.wire);
            if !self.wire.is_empty() {
                write.write_all(&self.wire).await?;
                self.wire.clear();
                self.outgoing.written();
            }
            if let Some(read_at) = fresh.take() {
                match pace.next(came, read_at) {
                    Next::Read => {}
                    Next::Acknowledge => twin.acknowledge(),
                    Next::Linger(wait) => {
                        twin.quiet();
                        pause.wait(wait).await;
                        twin.listen();
                        twin.acknowledge();
                    }
                }
            }
            self.reader.make_room();
            tokio::select! {
                biased;
                command = self.commands.recv() => match command {
                    None => return self.goodbye(write).await,
                    Some(command) => self.command(command)?,
                },
                done = self.acked.recv() => if let Some(done) = done { self.pay(done) },
                _ = pings.tick() => self.wire.extend_from_slice(&[0xc0, 0]),
                got = read.read_buf(&mut self.reader.buf) => {
                    if got? == 0 {
                        return Err(End::Lost("the broker closed the connection".into()));
                    }
                    fresh = Some(Instant::now());
                }
            }
        }
    }

    /// Everything the reader holds: messages to their subscriptions, answers to where they belong.
    async fn take_in(
        &mut self,
        write: &mut WriteHalf<Box<dyn Transport>>,
        pings: &mut tokio::time::Interval,
    ) -> Result<Came, End> {
        let mut came = Came::default();
        loop {
            let mut others = Vec::new();
            let more = self.reader.parse(|frame, body| {
                others.push((frame.clone(), body.to_vec()));
                Ok(())
            })?;
            for (frame, body) in others {
                self.answer(&frame, &body)?;
            }
            if !self.reader.has_messages() {
                self.reader.settle();
                return Ok(came);
            }
            let taken = self.reader.take();
            came.messages += taken.msgs.len();
            came.bytes += taken.bytes.len();
            came.acked |= taken.acked;
            self.deliver(taken, write, pings).await?;
            if !more {
                return Ok(came);
            }
        }
    }

    /// Hands messages to subscriptions, waiting for room while keep-alives go on.
    async fn deliver(
        &mut self,
        mut taken: Taken,
        write: &mut WriteHalf<Box<dyn Transport>>,
        pings: &mut tokio::time::Interval,
    ) -> Result<(), End> {
        let ack = taken.acked.then(|| self.owe(&taken.msgs));
        let ts = self.clock.now_ms();
        let single = self.subscriptions.len() == 1;
        for at in 0..self.subscriptions.len() {
            let msgs = match single && at == 0 {
                true => std::mem::take(&mut taken.msgs),
                false => matching(&self.subscriptions[at], &taken),
            };
            if msgs.is_empty() {
                continue;
            }
            let payloads = Payloads::Bytes { bytes: taken.bytes.clone(), msgs };
            let mut batch = RawBatch { payloads, meta: None, ts, ack: ack.clone() };
            loop {
                match self.subscriptions[at].out.try_send(batch) {
                    Ok(None) | Err(_) => break, // a stopped stream unsubscribes by itself
                    Ok(Some(back)) => batch = back,
                }
                tokio::select! {
                    _ = self.subscriptions[at].out.tx.freed() => {}
                    _ = pings.tick() => write.write_all(&[0xc0, 0]).await?,
                    done = self.acked.recv() => {
                        if let Some(done) = done { self.pay(done) }
                        if !self.wire.is_empty() {
                            write.write_all(&self.wire).await?;
                            self.wire.clear();
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn owe(&mut self, msgs: &[Msg]) -> rekuiper_value::batch::Ack {
        let owed = msgs.iter().filter(|m| m.meta.packet_id != 0);
        self.acks.owe(owed.map(|m| (m.meta.packet_id, m.meta.qos)).collect())
    }

    fn pay(&mut self, done: Done) {
        let (wire, version) = (&mut self.wire, self.options.version);
        let unreleased = &mut self.unreleased;
        self.acks.done(done, |(id, qos)| {
            let ack = Ack::new(id, rekuiper_mqtt_codec::ReasonCode(0));
            let packet = if qos == 2 {
                unreleased.insert(id);
                Packet::PubRec(ack)
            } else {
                Packet::PubAck(ack)
            };
            // an acknowledgement without properties always fits
            let _ = packet.encode(version, wire);
        });
    }
}

fn matching(subscription: &Subscription, taken: &Taken) -> Vec<Msg> {
    let fits = |msg: &&Msg| {
        let (at, len) = (msg.meta.topic.0 as usize, msg.meta.topic.1 as usize);
        let topic = std::str::from_utf8(taken.bytes.get(at..at + len).unwrap_or(&[]));
        topic.is_ok_and(|t| subscription.filters.iter().any(|f| filter_matches(f, t)))
    };
    taken.msgs.iter().filter(fits).cloned().collect()
}

/// A filter, `$share/group/` aside.
fn filter_matches(filter: &str, topic: &str) -> bool {
    let plain = filter.strip_prefix("$share/").and_then(|rest| rest.split_once('/'));
    topic_matches(plain.map_or(filter, |(_, f)| f), topic)
}
