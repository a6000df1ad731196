//! Buffers that come back from sinks to be filled again, by whichever rule has something next: a
//! rule at rest holds none.

use std::sync::Mutex;

use rekuiper_connect::{SinkBatch, SinkData};

/// What is kept: so many buffers, none larger than that.
const COUNT_MAX: usize = 32;
const BYTES_MAX: usize = 256 << 10;

type Buffers = (Vec<u8>, Vec<u32>);

static KEPT: Mutex<Vec<Buffers>> = Mutex::new(Vec::new());

pub fn take() -> Buffers {
    KEPT.lock().unwrap_or_else(|e| e.into_inner()).pop().unwrap_or_default()
}

pub fn give(batch: SinkBatch) {
    if let SinkData::Bytes { mut buf, mut ends, .. } = batch.data
        && buf.capacity() <= BYTES_MAX
    {
        buf.clear();
        ends.clear();
        let mut kept = KEPT.lock().unwrap_or_else(|e| e.into_inner());
        if kept.len() < COUNT_MAX {
            kept.push((buf, ends));
        }
    }
}
