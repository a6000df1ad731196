//! How fast PUBLISH packets are found in a 256 KiB buffer: `cargo run --release --example
//! codec_speed -p rekuiper-mqtt-codec`. Prints a sum of what it saw, so that nothing is elided.

use std::time::Instant;

use rekuiper_mqtt_codec::publish::{self, PublishParts};
use rekuiper_mqtt_codec::{QoS, Version, frame};

fn main() {
    let payload = [b'x'; 146];
    let parts = PublishParts {
        topic: b"factory/line1/sensor42",
        packet_id: None,
        qos: QoS::AtMostOnce,
        dup: false,
        retain: false,
        properties: [&[], &[]],
        payload: &payload,
    };
    let mut buffer = Vec::new();
    while buffer.len() < 256 * 1024 {
        publish::write(&mut buffer, Version::V311, &parts).expect("fits");
    }
    let (mut packets, mut sum) = (0u64, 0usize);
    let start = Instant::now();
    for _ in 0..10_000 {
        let mut at = 0;
        while let Ok(Some(found)) = frame::scan(std::hint::black_box(&buffer[at..])) {
            let body = &buffer[at..][found.body.clone()];
            if let Ok(view) = publish::view(Version::V311, found.flags, body) {
                sum += view.payload.len() + usize::from(body[view.topic.start]);
            }
            packets += 1;
            at += found.total_len;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{packets} packets, {:.1} M/s, sum {sum}",
        packets as f64 / seconds / 1e6
    );
}
