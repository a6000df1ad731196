//! Packets other than messages: what the broker says, and what is asked of it.

use rekuiper_mqtt_codec::{Ack, Frame, Packet, Subscribe, SubscribeFilter, Unsubscribe};
use tokio::io::{AsyncWriteExt, WriteHalf};

use super::{End, Work};
use crate::mqtt::client::{Command, Subscription};
use crate::mqtt::stream::Transport;

impl Work {
    pub(super) fn answer(&mut self, frame: &Frame, body: &[u8]) -> Result<(), End> {
        let version = self.options.version;
        match Packet::from_frame(version, frame, body)? {
            Packet::PubAck(a) => self.outgoing.acknowledged(a.packet_id, refusal(&a)),
            Packet::PubComp(a) => self.outgoing.acknowledged(a.packet_id, None),
            Packet::PubRec(a) => {
                if a.reason.0 >= 0x80 {
                    self.outgoing.acknowledged(a.packet_id, refusal(&a));
                } else if self.outgoing.is_flying(a.packet_id) {
                    let release = Ack::new(a.packet_id, rekuiper_mqtt_codec::ReasonCode(0));
                    Packet::PubRel(release).encode(version, &mut self.wire)?;
                }
            }
            Packet::PubRel(a) => {
                self.unreleased.remove(&a.packet_id);
                let complete = Ack::new(a.packet_id, rekuiper_mqtt_codec::ReasonCode(0));
                Packet::PubComp(complete).encode(version, &mut self.wire)?;
            }
            Packet::SubAck(a) => {
                if let Some(reason) = a.reasons.iter().find(|r| r.0 >= 0x80) {
                    tracing::error!("the broker refused a subscription: {reason}");
                }
            }
            Packet::Disconnect(d) => {
                return Err(End::Lost(format!(
                    "the broker disconnected client id {:?}: {}",
                    self.client_id, d.reason
                )));
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn command(&mut self, command: Command) -> Result<(), End> {
        match command {
            Command::Subscribe(s) => {
                s.status.connected(self.clock.now_ms());
                self.subscriptions.push(s);
                self.put_subscribe(self.subscriptions.len() - 1)?;
            }
            Command::Unsubscribe(id) => {
                if let Some(at) = self.subscriptions.iter().position(|s| s.id == id) {
                    let gone = self.subscriptions.remove(at);
                    self.put_unsubscribe(gone)?;
                }
            }
            Command::Watch(status) => self.watch(status),
            Command::Publish(job) => self.outgoing.push(job),
        }
        Ok(())
    }

    fn packet_id(&mut self) -> u16 {
        self.next_packet_id = self.next_packet_id.checked_add(1).unwrap_or(1);
        self.next_packet_id
    }

    pub(super) fn put_subscribe(&mut self, at: usize) -> Result<(), End> {
        let packet_id = self.packet_id();
        let s = &self.subscriptions[at];
        let filters =
            s.filters.iter().map(|f| SubscribeFilter::new(f.clone(), s.qos)).collect();
        let packet = Subscribe { packet_id, properties: Default::default(), filters };
        Packet::Subscribe(packet).encode(self.options.version, &mut self.wire)?;
        Ok(())
    }

    /// Filters that no other subscription needs.
    fn put_unsubscribe(&mut self, gone: Subscription) -> Result<(), End> {
        let needed = |f: &String| self.subscriptions.iter().any(|s| s.filters.contains(f));
        let filters: Vec<String> = gone.filters.into_iter().filter(|f| !needed(f)).collect();
        if filters.is_empty() || self.options.session {
            return Ok(());
        }
        let packet_id = self.packet_id();
        let packet = Unsubscribe { packet_id, properties: Default::default(), filters };
        Packet::Unsubscribe(packet).encode(self.options.version, &mut self.wire)?;
        Ok(())
    }

    pub(super) async fn goodbye(
        &mut self,
        write: &mut WriteHalf<Box<dyn Transport>>,
    ) -> Result<(), End> {
        self.wire.extend_from_slice(&[0xe0, 0]); // DISCONNECT, the same in all versions
        write.write_all(&self.wire).await?;
        let _ = write.shutdown().await;
        Ok(())
    }
}

fn refusal(ack: &Ack) -> Option<String> {
    (ack.reason.0 >= 0x80).then(|| ack.reason.to_string())
}
