//! SUBSCRIBE and UNSUBSCRIBE, and the retained messages a new subscription gets.

use rekuiper_mqtt_codec::{
    Packet, QoS, ReasonCode, RetainHandling, SubAck, Subscribe, SubscribeFilter, UnsubAck,
    Unsubscribe, Version, valid_filter,
};

use super::Core;
use crate::limits::{FILTER_BYTES_MAX, TOPIC_LEVELS_MAX};
use crate::message::SubscriberId;
use crate::router::SubOptions;
use crate::session::Delivery;

pub(crate) fn acceptable_filter(filter: &str) -> bool {
    filter.len() <= FILTER_BYTES_MAX
        && valid_filter(filter)
        && filter.split('/').count() <= TOPIC_LEVELS_MAX
}

impl Core {
    pub(super) fn on_subscribe(
        &mut self,
        id: SubscriberId,
        version: Version,
        packet: Subscribe,
        now: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ReasonCode> {
        let shared = |f: &SubscribeFilter| f.filter.starts_with("$share/");
        if packet.filters.iter().any(|f| f.no_local && shared(f)) {
            return Err(ReasonCode::PROTOCOL_ERROR);
        }
        let sub_id = packet.properties.subscription_id().map(|id| id.0);
        let mut reasons = Vec::with_capacity(packet.filters.len());
        let mut wanted = Vec::new();
        for filter in &packet.filters {
            let options = SubOptions {
                qos: filter.qos,
                no_local: filter.no_local,
                retain_as_published: filter.retain_as_published,
                id: sub_id,
            };
            let reason = match self.subscribe(id, &filter.filter, options) {
                Ok(fresh) => {
                    let retained = match filter.retain_handling {
                        RetainHandling::Send => true,
                        RetainHandling::SendIfNew => fresh,
                        RetainHandling::DoNotSend => false,
                    };
                    if retained && !shared(filter) {
                        wanted.push((filter, options));
                    }
                    ReasonCode(filter.qos as u8)
                }
                Err(reason) => reason,
            };
            reasons.push(reason);
        }
        let ack = SubAck {
            packet_id: packet.packet_id,
            reasons,
            ..SubAck::default()
        };
        encode(Packet::SubAck(ack), version, out)?;
        for (filter, options) in wanted {
            self.send_retained(id, &filter.filter, options, now);
        }
        Ok(())
    }

    /// Adds one subscription of a client; whether it is new, or why not.
    fn subscribe(
        &mut self,
        id: SubscriberId,
        filter: &str,
        options: SubOptions,
    ) -> Result<bool, ReasonCode> {
        if !acceptable_filter(filter) {
            return Err(ReasonCode::TOPIC_FILTER_INVALID);
        }
        let max = self.config.limits.subscriptions_max;
        let Some(session) = self.session(id) else {
            return Err(ReasonCode::UNSPECIFIED_ERROR);
        };
        if !session.filters.contains(filter) {
            if session.filters.len() >= max {
                return Err(ReasonCode::QUOTA_EXCEEDED);
            }
            session.filters.insert(filter.into());
        }
        Ok(self.router.insert(filter, id, options))
    }

    fn send_retained(&mut self, id: SubscriberId, filter: &str, options: SubOptions, now: u64) {
        let limits = self.config.clone();
        let messages = self.retained.matching(filter, now);
        let Some(session) = self.session(id) else {
            return;
        };
        // all or none: the store bounds them, so a queue exceeds its bound by one store at most
        let full = session.outbound.is_full(
            limits.limits.queue_messages_max,
            limits.limits.queue_bytes_max,
        );
        if full {
            self.stats.dropped_queue_full += messages.len() as u64;
            return;
        }
        for message in messages {
            let qos = message.qos.min(options.qos);
            let ids = options.id.map(|id| [id].into());
            session.outbound.push(Delivery {
                message,
                qos,
                retain: true,
                ids,
            });
        }
    }

    pub(super) fn on_unsubscribe(
        &mut self,
        id: SubscriberId,
        version: Version,
        packet: Unsubscribe,
        out: &mut Vec<u8>,
    ) -> Result<(), ReasonCode> {
        let mut reasons = Vec::with_capacity(packet.filters.len());
        for filter in &packet.filters {
            let had = self
                .session(id)
                .is_some_and(|s| s.filters.remove(filter.as_str()));
            if had {
                self.router.remove(filter, id);
            }
            reasons.push(match had {
                true => ReasonCode::SUCCESS,
                false if valid_filter(filter) => ReasonCode::NO_SUBSCRIPTION_EXISTED,
                false => ReasonCode::TOPIC_FILTER_INVALID,
            });
        }
        let ack = UnsubAck {
            packet_id: packet.packet_id,
            reasons,
            ..UnsubAck::default()
        };
        encode(Packet::UnsubAck(ack), version, out)
    }

    /// Subscribes a link to an acceptable filter; retained messages go into its queue.
    pub(crate) fn link_subscribe(&mut self, id: SubscriberId, filter: &str, qos: QoS, now: u64) {
        let Some(link) = self.link(id) else { return };
        let no_local = link.options.no_local;
        link.filters.insert(filter.into());
        let options = SubOptions {
            qos,
            no_local,
            retain_as_published: false,
            id: None,
        };
        self.router.insert(filter, id, options);
        if filter.starts_with("$share/") {
            return;
        }
        let messages = self.retained.matching(filter, now);
        let Some(link) = self.link(id) else { return };
        if link.is_full() {
            link.dropped += messages.len() as u64;
            self.stats.dropped_link_full += messages.len() as u64;
            return;
        }
        for message in messages {
            let qos = message.qos.min(qos);
            link.push(message, qos, true, None);
        }
        self.knock(id);
    }

    pub(crate) fn link_unsubscribe(&mut self, id: SubscriberId, filter: &str) -> bool {
        let had = self
            .link(id)
            .is_some_and(|link| link.filters.remove(filter));
        let gone = had && self.router.remove(filter, id);
        self.wake_all_waiters(id);
        gone
    }
}

fn encode(packet: Packet, version: Version, out: &mut Vec<u8>) -> Result<(), ReasonCode> {
    packet
        .encode(version, out)
        .map_err(|_| ReasonCode::PACKET_TOO_LARGE)
}
