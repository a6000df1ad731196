//! What the broker remembers of one client. Plain state: facts and `now` in, decisions out; no
//! socket, no task, no clock.

mod inbound;
mod outbound;
mod will;

use std::collections::HashSet;

pub(crate) use inbound::{AckSeq, Inbound};
pub(crate) use outbound::{Delivery, Offer, Outbound, SendTerms};
use rekuiper_mqtt_codec::Version;
pub(crate) use will::Will;

/// Never expires.
pub(crate) const FOREVER_S: u32 = u32::MAX;

/// What belongs to the connection and ends with it.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Tells this connection from earlier ones of the same session
    pub(crate) epoch: u64,
    pub(crate) keep_alive_ms: u64,
    pub(crate) last_heard: u64,
    pub(crate) terms: SendTerms,
    pub(crate) will: Option<Will>,
}

impl Connection {
    /// Half as long again as the client promised to speak within.
    pub(crate) fn is_silent(&self, now: u64) -> bool {
        self.keep_alive_ms > 0 && now > self.last_heard + self.keep_alive_ms * 3 / 2
    }
}

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) client_id: Box<str>,
    /// Tells this session from earlier ones in the same place
    pub(crate) serial: u64,
    pub(crate) version: Version,
    /// How long it outlives its connection; 0 = not at all
    pub(crate) expiry_s: u32,
    pub(crate) connection: Option<Connection>,
    /// When it ends, while there is no connection; `None` = never
    pub(crate) ends_at: Option<u64>,
    /// A will that waits for its delay
    pub(crate) delayed_will: Option<(u64, Will)>,
    pub(crate) filters: HashSet<Box<str>, ahash::RandomState>,
    pub(crate) outbound: Outbound,
    pub(crate) inbound: Inbound,
    /// Acknowledgements that became due outside of the client's own turn
    pub(crate) control: Vec<u8>,
}

impl Session {
    pub(crate) fn new(client_id: &str, serial: u64, version: Version) -> Session {
        Session {
            client_id: client_id.into(),
            serial,
            version,
            expiry_s: 0,
            connection: None,
            ends_at: None,
            delayed_will: None,
            filters: HashSet::default(),
            outbound: Outbound::default(),
            inbound: Inbound::default(),
            control: Vec::new(),
        }
    }

    pub(crate) fn is_online(&self) -> bool {
        self.connection.is_some()
    }

    /// A client came (back): what was in flight goes out again.
    pub(crate) fn attach(&mut self, version: Version, expiry_s: u32, connection: Connection) {
        self.version = version;
        self.expiry_s = expiry_s;
        self.connection = Some(connection);
        self.ends_at = None;
        self.delayed_will = None;
        self.outbound.restart();
        self.inbound.restart();
        self.control = Vec::new();
    }

    /// The connection is gone. Returns the will that is to be published now, if there is one;
    /// a delayed will stays here. `keep_will` is false after a proper goodbye.
    pub(crate) fn detach(&mut self, now: u64, keep_will: bool) -> Option<Will> {
        let connection = self.connection.take()?;
        self.control = Vec::new();
        self.inbound.restart();
        self.outbound.go_offline(self.expiry_s > 0);
        self.ends_at = match self.expiry_s {
            FOREVER_S => None,
            s => Some(now + u64::from(s) * 1000),
        };
        let will = connection.will.filter(|_| keep_will)?;
        let delay_s = will.delay_s.min(self.expiry_s);
        if delay_s == 0 {
            return Some(will);
        }
        self.delayed_will = Some((now + u64::from(delay_s) * 1000, will));
        None
    }

    /// Is the session over, for lack of a connection?
    pub(crate) fn is_over(&self, now: u64) -> bool {
        self.connection.is_none() && self.ends_at.is_some_and(|at| at <= now)
    }

    pub(crate) fn take_due_will(&mut self, now: u64) -> Option<Will> {
        match &self.delayed_will {
            Some((at, _)) if *at <= now => self.delayed_will.take().map(|(_, will)| will),
            _ => None,
        }
    }
}
