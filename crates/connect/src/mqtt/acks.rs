//! Acknowledging what came in at QoS 1 and 2: in the order of arrival, once every sink took it.

use std::collections::VecDeque;
use std::sync::Arc;

use rekuiper_value::batch::Ack;
use tokio::sync::mpsc;

/// A message to be acknowledged: packet id and QoS.
pub type Pending = (u16, u8);

/// Told by a batch that nobody holds any more.
pub type Done = u64;

/// Held by a batch; its drop is the news.
struct Guard {
    number: u64,
    news: mpsc::UnboundedSender<Done>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        // a client that has gone away has nobody to acknowledge to
        let _ = self.news.send(self.number);
    }
}

/// Keeps the order. What waits is bounded by the broker's in-flight window.
pub struct Acks {
    news: mpsc::UnboundedSender<Done>,
    first: u64,
    waiting: VecDeque<(Vec<Pending>, bool)>,
}

impl Acks {
    pub fn new() -> (Self, mpsc::UnboundedReceiver<Done>) {
        let (news, heard) = mpsc::unbounded_channel();
        (Acks { news, first: 0, waiting: VecDeque::new() }, heard)
    }

    /// A new batch with these messages; hold what is returned as long as they are owed.
    pub fn owe(&mut self, pending: Vec<Pending>) -> Ack {
        let number = self.first + self.waiting.len() as u64;
        self.waiting.push_back((pending, false));
        Arc::new(Guard { number, news: self.news.clone() })
    }

    /// Batch `number` is done; gives the messages that can now be acknowledged, in order.
    pub fn done(&mut self, number: Done, mut acknowledge: impl FnMut(Pending)) {
        let Some(at) = number.checked_sub(self.first) else { return };
        if let Some(entry) = self.waiting.get_mut(at as usize) {
            entry.1 = true;
        }
        while self.waiting.front().is_some_and(|(_, done)| *done) {
            if let Some((pending, _)) = self.waiting.pop_front() {
                self.first += 1;
                pending.into_iter().for_each(&mut acknowledge);
            }
        }
    }

    /// The connection ended: what is owed to it can no longer be paid; the broker sends it again.
    pub fn forget(&mut self) {
        self.first += self.waiting.len() as u64;
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledges_in_order_of_arrival() {
        let (mut acks, mut heard) = Acks::new();
        let a = acks.owe(vec![(1, 1)]);
        let b = acks.owe(vec![(2, 1), (3, 2)]);
        let b2 = b.clone();
        drop(b);
        drop(b2);
        let mut out = Vec::new();
        acks.done(heard.try_recv().unwrap(), |p| out.push(p));
        assert!(out.is_empty(), "the first batch is still owed");
        drop(a);
        acks.done(heard.try_recv().unwrap(), |p| out.push(p));
        assert_eq!(out, [(1, 1), (2, 1), (3, 2)]);
        let late = acks.owe(vec![(4, 1)]);
        acks.forget();
        drop(late);
        acks.done(heard.try_recv().unwrap(), |p| out.push(p));
        assert_eq!(out.len(), 3);
    }
}
