//! CONNECT: a client comes, or comes back, or takes over.

use std::sync::Arc;

use rekuiper_mqtt_codec::{ConnAck, Connect, Properties, Property, ReasonCode, Version};

use super::{Core, Kind};
use crate::auth;
use crate::door::Door;
use crate::limits::CLIENT_ID_BYTES_MAX;
use crate::message::SubscriberId;
use crate::session::{Connection, FOREVER_S, SendTerms, Session, Will};

/// A connection that was let in.
pub(crate) struct Accepted {
    pub(crate) id: SubscriberId,
    pub(crate) epoch: u64,
}

pub(crate) struct Admission {
    pub(crate) answer: ConnAck,
    /// `None` = refused, for the reason in the answer
    pub(crate) accepted: Option<Accepted>,
}

impl Core {
    pub(crate) fn on_connect(&mut self, connect: Connect, door: Arc<Door>, now: u64) -> Admission {
        match self.admit(connect, door, now) {
            Ok(admission) => admission,
            Err(reason) => {
                self.stats.connections_refused += 1;
                let answer = ConnAck {
                    reason,
                    ..ConnAck::default()
                };
                Admission {
                    answer,
                    accepted: None,
                }
            }
        }
    }

    fn admit(
        &mut self,
        mut connect: Connect,
        door: Arc<Door>,
        now: u64,
    ) -> Result<Admission, ReasonCode> {
        self.check(&connect)?;
        let assigned = self.assign_client_id(&mut connect)?;
        let existing = self.clients.get(connect.client_id.as_str()).copied();
        self.check_room(existing)?;
        let resumed = existing.and_then(|id| self.take_over(id, connect.clean, now));
        let (id, session_present) = match resumed {
            Some(id) => (id, true),
            None => {
                let serial = self.serial();
                let session = Session::new(&connect.client_id, serial, connect.version);
                let id = self.add(Kind::Session(Box::new(session)), None);
                self.clients.insert(connect.client_id.as_str().into(), id);
                (id, false)
            }
        };
        let expiry_s = self.expiry_s(&connect);
        let properties = self.answer_properties(&connect, assigned, expiry_s);
        let epoch = self.serial();
        let terms = self.terms(&connect);
        let keep_alive_ms = u64::from(connect.keep_alive_s) * 1000;
        let will = connect.will.map(Will::new);
        let connection = Connection {
            epoch,
            keep_alive_ms,
            last_heard: now,
            terms,
            will,
        };
        if let Some(slot) = self.slot(id) {
            slot.door = Some(door);
            slot.knocked = false;
            slot.waiting_on = None;
            slot.stalled = false;
        }
        if let Some(session) = self.session(id) {
            session.attach(connect.version, expiry_s, connection);
        }
        self.stats.connections_now += 1;
        self.stats.connections_accepted += 1;
        let answer = ConnAck {
            session_present,
            reason: ReasonCode::SUCCESS,
            properties,
        };
        Ok(Admission {
            answer,
            accepted: Some(Accepted { id, epoch }),
        })
    }

    fn check(&self, connect: &Connect) -> Result<(), ReasonCode> {
        if self.shutting_down {
            return Err(ReasonCode::SERVER_UNAVAILABLE);
        }
        auth::check(&self.config, connect)?;
        if connect
            .will
            .as_ref()
            .is_some_and(|will| will.topic.starts_with('$'))
        {
            return Err(ReasonCode::TOPIC_NAME_INVALID);
        }
        if connect.client_id.len() > CLIENT_ID_BYTES_MAX {
            return Err(ReasonCode::CLIENT_ID_NOT_VALID);
        }
        Ok(())
    }

    /// Is there room for one more? Who takes over or comes back brings its own.
    fn check_room(&mut self, existing: Option<SubscriberId>) -> Result<(), ReasonCode> {
        let (connections_max, sessions_max) = (
            self.config.limits.connections_max,
            self.config.limits.sessions_max,
        );
        let online = existing
            .and_then(|id| self.session(id))
            .is_some_and(|s| s.is_online());
        let no_connection = !online && self.stats.connections_now >= connections_max as u64;
        let no_session = existing.is_none() && self.clients.len() >= sessions_max;
        match no_connection || no_session {
            true => Err(ReasonCode::QUOTA_EXCEEDED),
            false => Ok(()),
        }
    }

    /// Gives a name to a client without one; returns whether it did.
    fn assign_client_id(&mut self, connect: &mut Connect) -> Result<bool, ReasonCode> {
        if !connect.client_id.is_empty() {
            return Ok(false);
        }
        if !connect.version.is_v5() && !connect.clean {
            return Err(ReasonCode::CLIENT_ID_NOT_VALID);
        }
        loop {
            let name = format!("auto-{:08x}", self.serial());
            if !self.clients.contains_key(name.as_str()) {
                connect.client_id = name;
                return Ok(true);
            }
        }
    }

    /// Ends an older connection of the same client. Returns the session if it goes on.
    fn take_over(&mut self, id: SubscriberId, clean: bool, now: u64) -> Option<SubscriberId> {
        if let Some(door) = self.slot(id).and_then(|slot| slot.door.take()) {
            door.close(ReasonCode::SESSION_TAKEN_OVER);
            self.detach(id, now, true);
        }
        // an ended session published its will and is gone; a delayed will of one that goes on
        // is called off by `attach`
        let over = self.session(id).is_none_or(|session| session.is_over(now));
        if clean || over {
            self.end_session(id, now);
            return None;
        }
        Some(id)
    }

    fn expiry_s(&self, connect: &Connect) -> u32 {
        let asked = match connect.version {
            Version::V5 => connect.properties.session_expiry().copied().unwrap_or(0),
            _ if connect.clean => 0,
            _ => FOREVER_S,
        };
        asked.min(self.config.limits.session_expiry_max_s)
    }

    fn terms(&self, connect: &Connect) -> SendTerms {
        let properties = &connect.properties;
        let asked = properties.receive_maximum().copied().unwrap_or(u16::MAX);
        let packet_max = properties
            .maximum_packet_size()
            .copied()
            .unwrap_or(u32::MAX);
        SendTerms {
            receive_max: asked.min(self.config.limits.inflight_max).max(1),
            packet_bytes_max: packet_max as usize,
        }
    }

    fn answer_properties(&self, connect: &Connect, assigned: bool, expiry_s: u32) -> Properties {
        let mut properties = Properties::default();
        if !connect.version.is_v5() {
            return properties;
        }
        let limits = &self.config.limits;
        if assigned {
            properties.push(Property::AssignedClientIdentifier(
                connect.client_id.clone(),
            ));
        }
        if connect
            .properties
            .session_expiry()
            .is_some_and(|&asked| asked != expiry_s)
        {
            properties.push(Property::SessionExpiryInterval(expiry_s));
        }
        let packet_max = u32::try_from(limits.packet_bytes_max).unwrap_or(u32::MAX);
        properties.push(Property::ReceiveMaximum(limits.receive_max.max(1)));
        properties.push(Property::MaximumPacketSize(packet_max.max(1)));
        properties.push(Property::TopicAliasMaximum(limits.topic_alias_max));
        properties
    }
}
