//! Ends: of a connection, of a session.

use std::sync::Arc;

use super::Core;
use crate::message::SubscriberId;

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goodbye {
    /// DISCONNECT: the will is not wanted
    Proper,
    /// Anything else
    Abrupt,
}

impl Core {
    /// A connection's task has ended.
    pub(crate) fn on_close(&mut self, id: SubscriberId, epoch: u64, how: Goodbye, now: u64) {
        if self.current(id, epoch).is_none() {
            return; // taken over: the session belongs to another connection, or is gone
        }
        if let Some(slot) = self.slot(id) {
            slot.door = None;
        }
        self.detach(id, now, how == Goodbye::Abrupt);
        let over = self.session(id).is_some_and(|session| session.is_over(now));
        if over {
            self.end_session(id, now);
        }
    }

    /// The session loses its connection; a will without delay is published.
    pub(super) fn detach(&mut self, id: SubscriberId, now: u64, keep_will: bool) {
        let Some(session) = self.session(id) else {
            return;
        };
        if !session.is_online() {
            return;
        }
        let will = session.detach(now, keep_will);
        self.stats.connections_now -= 1;
        if let Some(will) = will {
            let message = Arc::new(will.message(id, now));
            self.publish_inside(&message);
        }
    }

    /// The session is over: its subscriptions go, and a will that still waited is published.
    pub(super) fn end_session(&mut self, id: SubscriberId, now: u64) {
        let Some(session) = self.session(id) else {
            return;
        };
        let will = session.delayed_will.take().map(|(_, will)| will);
        let filters = std::mem::take(&mut session.filters);
        let client_id = std::mem::take(&mut session.client_id);
        for filter in filters {
            self.router.remove(&filter, id);
        }
        self.clients.remove(&client_id);
        self.forget(id);
        if let Some(will) = will {
            let message = Arc::new(will.message(id, now));
            self.publish_inside(&message);
        }
    }
}
