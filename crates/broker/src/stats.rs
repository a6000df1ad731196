//! Counters of the broker.

/// A snapshot of the broker's counters; all but the `…_now` ones only rise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub connections_now: u64,
    pub sessions_now: u64,
    pub subscriptions_now: u64,
    pub retained_now: u64,
    pub links_now: u64,
    /// Connections whose CONNECT was accepted
    pub connections_accepted: u64,
    /// Connections refused or ended for a fault of the client
    pub connections_refused: u64,
    pub bytes_received: u64,
    pub bytes_sent: u64,
    /// PUBLISH packets from clients
    pub messages_received: u64,
    /// PUBLISH packets to clients
    pub messages_sent: u64,
    /// Messages handed to in-process links
    pub messages_linked: u64,
    /// Messages published by in-process links
    pub messages_from_links: u64,
    /// Dropped because the receiving client's queue was full
    pub dropped_queue_full: u64,
    /// Dropped because the link's queue was full and its policy says so
    pub dropped_link_full: u64,
    /// Dropped because they expired while they waited
    pub dropped_expired: u64,
    /// Dropped because the receiver takes no packet that large
    pub dropped_too_large: u64,
    /// Not retained because the retained store was full
    pub dropped_retained_full: u64,
}

impl Stats {
    /// All drops together.
    pub fn messages_dropped(&self) -> u64 {
        self.dropped_queue_full
            + self.dropped_link_full
            + self.dropped_expired
            + self.dropped_too_large
    }
}
