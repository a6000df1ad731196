//! Any bytes as packets of each version.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rekuiper_mqtt_codec::{Packet, PacketKind, Version, frame, publish};

fuzz_target!(|data: &[u8]| {
    for version in [Version::V31, Version::V311, Version::V5] {
        if let Ok(Some(found)) = frame::scan(data) {
            assert!(found.total_len <= data.len());
            if found.kind == PacketKind::Publish {
                let body = &data[found.body.clone()];
                if let Ok(view) = publish::view(version, found.flags, body) {
                    assert!(view.payload.end <= body.len() && view.topic.end <= body.len());
                }
            }
        }
        let Ok(Some((packet, used))) = Packet::decode(version, data) else { continue };
        assert!(used <= data.len());
        let mut wire = Vec::new();
        if packet.encode(version, &mut wire).is_ok() {
            let again = Packet::decode(version, &wire);
            assert!(
                matches!(&again, Ok(Some((p, n))) if *p == packet && *n == wire.len()),
                "{packet:?} came back as {again:?}"
            );
        }
    }
});
