//! Every bound of the data path, with its reason. Units last.

/// Most messages a source hands over at once: enough to make per-batch costs vanish, small enough
/// to stay in the second-level cache (1,024 × 180 B of MQTT telemetry).
pub const BATCH_MESSAGES_MAX: usize = 1024;

/// Batches between a source and the executor of its stream. Two keep both sides busy; more would
/// only add memory and delay.
pub const SOURCE_QUEUE_ROWS_MAX: usize = 4 * BATCH_MESSAGES_MAX;

/// Rows of a stream that may wait for one subscriber.
pub const SUBSCRIBER_QUEUE_ROWS_MAX: usize = 4096;

/// Rows that may wait for one sink.
pub const SINK_QUEUE_ROWS_MAX: usize = 10_000;

/// Bytes that may wait for one sink, whatever their rows: bounds memory where rows are large.
pub const SINK_QUEUE_BYTES_MAX: usize = 2 << 20;

/// Read buffer of a connection under load.
pub const READ_BUFFER_BYTES: usize = 256 << 10;

/// Wait before a source reads again while messages come in one after the other: a wake-up costs as
/// much as a hundred messages. Half of it is what a message waits on average, and that shall stay
/// below a millisecond.
pub const READ_LINGER_US: u64 = 1_200;

/// Where a millisecond brings more messages than this, what the wake-ups cost is most of the work:
/// there the wait is as long as [`READ_GATHER_BYTES`] take to come, within these bounds.
pub const READ_BUSY_MESSAGES_PER_MS: u64 = 25;
pub const READ_LINGER_BUSY_US: std::ops::RangeInclusive<u64> = 4_000..=16_000;
pub const READ_GATHER_BYTES: usize = READ_BUFFER_BYTES / 2;

/// Over how long a connection's rate is averaged: a burst does not make it a busy one.
pub const READ_RATE_US: u64 = 100_000;

/// A read that brought so much did not empty the connection: the next one follows at once.
pub const READ_FULL_BYTES: usize = READ_BUFFER_BYTES / 4 * 3;

/// A sink that has taken nothing for so long is stuck: its oldest rows are dropped and counted, so
/// that other rules of the stream go on. A slow sink that still takes rows slows its source down
/// instead.
pub const SINK_STUCK_MS: i64 = 1_000;

/// Rows that a scan table keeps unless RETAIN_SIZE says otherwise (file tables).
pub const FILE_TABLE_ROWS: usize = 9_999;

/// Largest MQTT packet that is read.
pub const PACKET_BYTES_MAX: usize = 64 << 20;

const _: () = {
    assert!(BATCH_MESSAGES_MAX <= SUBSCRIBER_QUEUE_ROWS_MAX, "a batch fits a subscriber's queue");
    assert!(BATCH_MESSAGES_MAX <= SOURCE_QUEUE_ROWS_MAX, "a batch fits a source's queue");
    assert!(BATCH_MESSAGES_MAX <= SINK_QUEUE_ROWS_MAX, "a batch's results fit a sink's queue");
};
