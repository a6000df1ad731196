//! Every bound of the broker: name, value, reason. Units stand last in the name.

/// One read takes at most this much; the buffer belongs to the thread, not to the connection.
pub const READ_CHUNK_BYTES: usize = 64 * 1024;

/// One write carries about this much; more waits in the client's queue, where it is counted.
pub const WRITE_CHUNK_BYTES: usize = 64 * 1024;

/// A client that does not read its answers is not read from beyond this.
pub const REPLY_BYTES_MAX: usize = 64 * 1024;

/// Levels of a topic. Bounds the depth of the topic tree and so the walk through it.
pub const TOPIC_LEVELS_MAX: usize = 128;

/// Length of a topic filter, as each client may have many; longer ones are refused.
pub const FILTER_BYTES_MAX: usize = 4096;

/// Length of a client identifier, as each session keeps its own; longer ones are refused.
pub const CLIENT_ID_BYTES_MAX: usize = 1024;

/// Topics whose receivers are remembered, so that a busy topic does not walk the tree each time.
pub const ROUTE_CACHE_TOPICS_MAX: usize = 4096;

/// From this queue length on a queued message gets memory of its own, instead of holding on to
/// the whole read it came in with.
pub const COMPACT_FROM_QUEUED: usize = 64;

/// What a queued message costs beside its bytes, for the byte bounds.
pub const MESSAGE_OVERHEAD_BYTES: usize = 96;

/// How long a closing connection is drained, so that the peer can read why.
pub const LINGER_MS: u64 = 200;

/// How long `shutdown` waits for the connections to say goodbye.
pub const SHUTDOWN_MS: u64 = 5_000;

const _: () = assert!(REPLY_BYTES_MAX >= 1024 && WRITE_CHUNK_BYTES >= 1024);

/// The bounds a caller may set; the defaults suit a small machine.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Open connections; one more is refused
    pub connections_max: usize,
    /// Sessions kept for clients that are away
    pub sessions_max: usize,
    /// Largest packet taken from a client
    pub packet_bytes_max: usize,
    /// Messages waiting for one client; full: QoS 0 and newest are dropped and counted
    pub queue_messages_max: usize,
    /// Bytes of the messages waiting for one client and of those it has not acknowledged
    pub queue_bytes_max: usize,
    /// QoS 1 and 2 messages sent to one client and not acknowledged yet
    pub inflight_max: u16,
    /// QoS 1 and 2 messages taken from one client and not acknowledged yet (Receive Maximum)
    pub receive_max: u16,
    /// Topic aliases a client may use towards us
    pub topic_alias_max: u16,
    /// Subscriptions of one client
    pub subscriptions_max: usize,
    pub retained_messages_max: usize,
    pub retained_bytes_max: usize,
    /// Longest life of a session without connection; asked-for values are cut to it
    pub session_expiry_max_s: u32,
    /// From accept to a complete CONNECT
    pub connect_timeout_ms: u64,
    /// Rhythm of keep-alive checks, expiries, delayed wills
    pub tick_ms: u64,
    /// Rhythm of the `$SYS` topics
    pub sys_interval_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections_max: 25_000,
            sessions_max: 50_000,
            packet_bytes_max: 1024 * 1024,
            queue_messages_max: 4096,
            queue_bytes_max: 4 * 1024 * 1024,
            inflight_max: 256,
            receive_max: 1024,
            topic_alias_max: 64,
            subscriptions_max: 10_000,
            retained_messages_max: 100_000,
            retained_bytes_max: 64 * 1024 * 1024,
            session_expiry_max_s: 7 * 24 * 3600,
            connect_timeout_ms: 10_000,
            tick_ms: 1_000,
            sys_interval_ms: 10_000,
        }
    }
}
