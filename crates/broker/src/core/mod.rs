//! Everything the broker decides. One lock holds it; tasks come in with bytes or calls and a
//! `now`, and leave with bytes to send and doors to knock at.

mod close;
mod connect;
mod links;
mod packets;
mod publish;
mod subscribe;
mod sys;
mod tick;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use rekuiper_mqtt_codec::ReasonCode;

pub(crate) use close::Goodbye;
pub(crate) use connect::Accepted;
pub(crate) use links::LinkState;
pub(crate) use packets::Next;
pub(crate) use publish::too_deep;
pub(crate) use subscribe::acceptable_filter;

use crate::door::Door;
use crate::message::SubscriberId;
use crate::retained::Retained;
use crate::router::Router;
use crate::session::{AckSeq, Session};
use crate::{BrokerConfig, Stats};

pub(crate) enum Kind {
    Session(Box<Session>),
    Link(Box<LinkState>),
}

struct Slot {
    kind: Kind,
    /// The task behind it; a session whose client is away has none
    door: Option<Arc<Door>>,
    /// The door was knocked at and the task has not looked yet
    knocked: bool,
    /// The link whose queue it waits for
    waiting_on: Option<SubscriberId>,
    /// It waits for acknowledgements that are owed to it
    stalled: bool,
}

/// A publisher's acknowledgement that waits for one or more links.
#[derive(Debug)]
pub(crate) struct Ticket {
    session: SubscriberId,
    serial: u64,
    seq: AckSeq,
    /// Links that have not committed yet
    open: AtomicUsize,
}

pub(crate) struct Core {
    pub(crate) config: Arc<BrokerConfig>,
    slots: Vec<Option<Slot>>,
    free: Vec<u32>,
    clients: HashMap<Box<str>, SubscriberId, ahash::RandomState>,
    router: Router,
    retained: Retained,
    pub(crate) stats: Stats,
    next_serial: u64,
    next_sys: u64,
    shutting_down: bool,
    /// To be knocked at once the lock is released
    knocks: Vec<Arc<Door>>,
}

impl Core {
    pub(crate) fn new(config: Arc<BrokerConfig>) -> Core {
        Core {
            config,
            slots: Vec::new(),
            free: Vec::new(),
            clients: HashMap::default(),
            router: Router::default(),
            retained: Retained::default(),
            stats: Stats::default(),
            next_serial: 1,
            next_sys: 0,
            shutting_down: false,
            knocks: Vec::new(),
        }
    }

    fn serial(&mut self) -> u64 {
        self.next_serial += 1;
        self.next_serial
    }

    fn add(&mut self, kind: Kind, door: Option<Arc<Door>>) -> SubscriberId {
        let slot = Slot {
            kind,
            door,
            knocked: false,
            waiting_on: None,
            stalled: false,
        };
        match self.free.pop() {
            Some(at) => {
                self.slots[at as usize] = Some(slot);
                SubscriberId(at)
            }
            None => {
                self.slots.push(Some(slot));
                SubscriberId((self.slots.len() - 1) as u32)
            }
        }
    }

    /// Forgets a session or link; its subscriptions must be gone by now.
    fn forget(&mut self, id: SubscriberId) {
        if self
            .slots
            .get_mut(id.index())
            .and_then(Option::take)
            .is_some()
        {
            self.free.push(id.0);
        }
    }

    fn slot(&mut self, id: SubscriberId) -> Option<&mut Slot> {
        self.slots.get_mut(id.index())?.as_mut()
    }

    fn session(&mut self, id: SubscriberId) -> Option<&mut Session> {
        match &mut self.slot(id)?.kind {
            Kind::Session(session) => Some(session),
            Kind::Link(_) => None,
        }
    }

    fn link(&mut self, id: SubscriberId) -> Option<&mut LinkState> {
        match &mut self.slot(id)?.kind {
            Kind::Link(link) => Some(link),
            Kind::Session(_) => None,
        }
    }

    /// The session of a connection that is still the one it belongs to.
    fn current(&mut self, id: SubscriberId, epoch: u64) -> Option<&mut Session> {
        let session = self.session(id)?;
        let current = session.connection.as_ref()?.epoch;
        (current == epoch).then_some(session)
    }

    /// There is something for this one: its task will be woken, once.
    fn knock(&mut self, id: SubscriberId) {
        let Some(slot) = self.slots.get_mut(id.index()).and_then(Option::as_mut) else {
            return;
        };
        if slot.knocked {
            return;
        }
        if let Some(door) = &slot.door {
            slot.knocked = true;
            self.knocks.push(door.clone());
        }
    }

    /// The doors to knock at after the lock is released.
    pub(crate) fn take_knocks(&mut self) -> Vec<Arc<Door>> {
        std::mem::take(&mut self.knocks)
    }

    /// Nobody is let in any more; every task is asked to end.
    pub(crate) fn shut_down(&mut self) {
        self.shutting_down = true;
        for slot in self.slots.iter().flatten() {
            if let Some(door) = &slot.door {
                door.close(ReasonCode::SERVER_SHUTTING_DOWN);
            }
            if let Kind::Link(link) = &slot.kind {
                link.end();
            }
        }
    }

    pub(crate) fn snapshot(&self) -> Stats {
        Stats {
            sessions_now: self.clients.len() as u64,
            subscriptions_now: self.router.len() as u64,
            retained_now: self.retained.len() as u64,
            ..self.stats.clone()
        }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod twin_tests;
