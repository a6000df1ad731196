//! In-process links, as the core sees them: bounded queues with a policy, and commits.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rekuiper_mqtt_codec::{QoS, ReasonCode};

use super::{Core, Kind, Ticket};
use crate::door::Door;
use crate::limits::COMPACT_FROM_QUEUED;
use crate::link::{LinkOptions, LinkStats};
use crate::message::{Message, SubscriberId};

/// A message in a link's queue.
pub(crate) struct LinkDelivery {
    pub(crate) message: Arc<Message>,
    pub(crate) qos: QoS,
    pub(crate) retain: bool,
    ticket: Option<Arc<Ticket>>,
}

pub(crate) struct LinkState {
    pub(crate) options: LinkOptions,
    pub(crate) filters: HashSet<Box<str>>,
    queue: VecDeque<LinkDelivery>,
    queue_bytes: usize,
    /// Handed out and not committed, numbered from `first_unacked`
    unacked: VecDeque<Option<Arc<Ticket>>>,
    first_unacked: u64,
    /// Publishers that wait for room here
    waiters: HashSet<SubscriberId, ahash::RandomState>,
    /// Knocked at when this link, as a publisher, may try again
    space: Arc<Door>,
    received: u64,
    pub(crate) dropped: u64,
}

impl LinkState {
    pub(crate) fn is_full(&self) -> bool {
        self.queue.len() >= self.options.queue_messages_max
            || self.queue_bytes >= self.options.queue_bytes_max
    }

    /// Its handles must not use the place any more, which another may get.
    pub(super) fn end(&self) {
        self.space.close(ReasonCode::SERVER_SHUTTING_DOWN);
    }

    /// Is there so much room that waking publishers pays?
    fn is_roomy(&self) -> bool {
        self.queue.len() <= self.options.queue_messages_max * 3 / 4
            && self.queue_bytes <= self.options.queue_bytes_max * 3 / 4
    }

    pub(crate) fn push(
        &mut self,
        mut message: Arc<Message>,
        qos: QoS,
        retain: bool,
        ticket: Option<&Arc<Ticket>>,
    ) {
        // a link that keeps up takes its messages before the read they came with is reused;
        // one that lags behind must not hold on to more than it counts
        if self.queue.len() >= self.options.queue_messages_max / 2
            && self.queue.len() >= COMPACT_FROM_QUEUED
        {
            message = message.compact();
        }
        let ticket = ticket.filter(|_| self.options.ack_after_link && qos != QoS::AtMostOnce);
        if let Some(ticket) = ticket {
            ticket.open.fetch_add(1, Ordering::Relaxed);
        }
        self.received += 1;
        self.queue_bytes += message.cost();
        self.queue.push_back(LinkDelivery {
            message,
            qos,
            retain,
            ticket: ticket.cloned(),
        });
    }

    pub(super) fn drop_oldest(&mut self) -> Option<Arc<Ticket>> {
        let oldest = self.queue.pop_front()?;
        self.queue_bytes -= oldest.message.cost();
        oldest.ticket
    }

    fn take_unacked(&mut self, number: u64) -> Option<Arc<Ticket>> {
        let at = usize::try_from(number.checked_sub(self.first_unacked)?).ok()?;
        let ticket = self.unacked.get_mut(at)?.take();
        while let Some(None) = self.unacked.front() {
            self.unacked.pop_front();
            self.first_unacked += 1;
        }
        ticket
    }
}

impl Core {
    pub(crate) fn open_link(
        &mut self,
        options: LinkOptions,
        door: Arc<Door>,
        space: Arc<Door>,
    ) -> Option<SubscriberId> {
        if self.shutting_down {
            return None;
        }
        let state = LinkState {
            options,
            filters: HashSet::new(),
            queue: VecDeque::new(),
            queue_bytes: 0,
            unacked: VecDeque::new(),
            first_unacked: 0,
            waiters: HashSet::default(),
            space,
            received: 0,
            dropped: 0,
        };
        self.stats.links_now += 1;
        Some(self.add(Kind::Link(Box::new(state)), Some(door)))
    }

    /// Takes up to `max` messages, each with the number to commit it by, if it waits for that.
    pub(crate) fn link_take(
        &mut self,
        id: SubscriberId,
        max: usize,
        now: u64,
        out: &mut Vec<(LinkDelivery, Option<u64>)>,
    ) -> usize {
        let mut expired = Vec::new();
        let Some(slot) = self.slot(id) else { return 0 };
        slot.knocked = false;
        let Kind::Link(link) = &mut slot.kind else {
            return 0;
        };
        // what is handed out and not committed is bounded too: no more of it than a queue's worth
        let open_max = link.options.queue_messages_max.saturating_mul(4);
        let mut taken = 0;
        while taken < max && link.unacked.len() < open_max {
            let Some(mut delivery) = link.queue.pop_front() else {
                break;
            };
            link.queue_bytes -= delivery.message.cost();
            if delivery.message.expired(now) {
                link.dropped += 1;
                expired.push(delivery.ticket);
                continue;
            }
            let number = delivery.ticket.take().map(|ticket| {
                link.unacked.push_back(Some(ticket));
                link.first_unacked + link.unacked.len() as u64 - 1
            });
            out.push((delivery, number));
            taken += 1;
        }
        if link.queue.is_empty() && link.queue.capacity() > 1024 {
            link.queue.shrink_to(256);
        }
        self.stats.messages_linked += taken as u64;
        self.stats.dropped_expired += expired.len() as u64;
        for ticket in expired.into_iter().flatten() {
            self.commit(&ticket);
        }
        self.wake_waiters(id);
        taken
    }

    fn wake_waiters(&mut self, id: SubscriberId) {
        let Some(link) = self.link(id) else { return };
        if !link.waiters.is_empty() && link.is_roomy() {
            self.wake_all_waiters(id);
        }
    }

    /// Also when the link no longer wants what the waiters have: then they need not wait.
    pub(super) fn wake_all_waiters(&mut self, id: SubscriberId) {
        let Some(link) = self.link(id) else { return };
        for waiter in std::mem::take(&mut link.waiters) {
            self.wake_waiter(waiter, id);
        }
    }

    fn wake_waiter(&mut self, waiter: SubscriberId, link: SubscriberId) {
        let Some(slot) = self.slot(waiter) else {
            return;
        };
        if slot.waiting_on == Some(link) {
            slot.waiting_on = None;
        }
        match &slot.kind {
            Kind::Session(_) => self.knock(waiter),
            Kind::Link(state) => {
                let space = state.space.clone();
                self.knocks.push(space);
            }
        }
    }

    /// `who` waits until there is room in the queue of `link`.
    pub(super) fn wait_for(&mut self, who: SubscriberId, link: SubscriberId) {
        if let Some(link) = self.link(link) {
            link.waiters.insert(who);
        }
        if let Some(slot) = self.slot(who) {
            slot.waiting_on = Some(link);
        }
    }

    /// The link has committed a message; the last one to do so releases the acknowledgement.
    pub(crate) fn link_ack(&mut self, id: SubscriberId, number: u64) {
        let Some(link) = self.link(id) else { return };
        let was_shut = link.unacked.len() >= link.options.queue_messages_max.saturating_mul(4);
        let Some(ticket) = link.take_unacked(number) else {
            return;
        };
        let refill = was_shut && !link.queue.is_empty();
        self.commit(&ticket);
        if refill {
            self.knock(id);
        }
    }

    pub(super) fn commit(&mut self, ticket: &Ticket) {
        if ticket.open.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        let Some(session) = self.session(ticket.session) else {
            return;
        };
        if session.serial != ticket.serial {
            return;
        }
        session
            .inbound
            .commit(ticket.seq, session.version, &mut session.control);
        if !session.is_online() {
            session.control = Vec::new();
        }
        self.knock(ticket.session);
    }

    /// What a link took and did not commit counts as not received: those who published it are
    /// disconnected, so that they send it again.
    pub(crate) fn close_link(&mut self, id: SubscriberId) {
        let Some(link) = self.link(id) else { return };
        link.end();
        let filters = std::mem::take(&mut link.filters);
        let queued = std::mem::take(&mut link.queue);
        let unacked = std::mem::take(&mut link.unacked);
        for filter in filters {
            self.router.remove(&filter, id);
        }
        self.wake_all_waiters(id);
        let tickets = queued
            .into_iter()
            .map(|delivery| delivery.ticket)
            .chain(unacked);
        for ticket in tickets.flatten() {
            self.give_up(&ticket);
        }
        self.forget(id);
        self.stats.links_now -= 1;
    }

    fn give_up(&mut self, ticket: &Ticket) {
        let Some(session) = self.session(ticket.session) else {
            return;
        };
        if session.serial != ticket.serial || !session.inbound.give_up(ticket.seq) {
            return;
        }
        if let Some(slot) = self.slot(ticket.session)
            && let Some(door) = &slot.door
        {
            door.close(ReasonCode::IMPLEMENTATION_ERROR);
        }
    }

    pub(crate) fn link_stats(&mut self, id: SubscriberId) -> LinkStats {
        match self.link(id) {
            Some(link) => LinkStats {
                queued: link.queue.len() as u64,
                queued_bytes: link.queue_bytes as u64,
                uncommitted: link.unacked.iter().flatten().count() as u64,
                received: link.received,
                dropped: link.dropped,
            },
            None => LinkStats::default(),
        }
    }
}
