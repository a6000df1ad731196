//! What message `i` of each workload is: topic, payload, and the values a proof needs.
//!
//! Every value is a pure function of the index. A workload repeats its values after
//! [`Workload::period`] messages; only `id` and `ts` go on counting. Both are fixed-width numbers
//! (10 and 13 digits) that share their last ten digits, so one counter patches them in place.

/// The id of message 0: ten digits, so every later id has ten digits too.
pub const ID_BASE: u64 = 1_000_000_000;
/// `ts` is `id` with these three digits before it: a believable epoch time in milliseconds.
pub const TS_PREFIX: &str = "176";
/// Ids of warm-up probes lie below [`ID_BASE`]: nine digits, so no message can have one.
pub const PROBE_ID_BASE: u64 = 900_000_000;
/// How many different probe devices there are; enough rows to fill a 4 KiB file buffer.
pub const PROBE_DEVICES: u64 = 256;

/// One of the five single-rule workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Filter and projection over 1,000 devices on one topic.
    W1,
    /// The payload of W1, for a tumbling window by device.
    W2,
    /// Plain text numbers on 10,000 topics.
    W3,
    /// JSON on 10,000 vehicle topics, for a tumbling window.
    W4,
    /// JSON on 2,000 charger topics, for a session window.
    W5,
}

/// A message as text, and where the last ten digits of `id` and `ts` stand in the payload.
pub struct Message {
    pub topic: String,
    pub payload: Vec<u8>,
    /// Offsets of ten-digit counters in `payload`; empty when the payload has none.
    pub counters: Vec<usize>,
}

impl Workload {
    pub const ALL: [Workload; 5] = [
        Workload::W1,
        Workload::W2,
        Workload::W3,
        Workload::W4,
        Workload::W5,
    ];

    pub fn parse(text: &str) -> Result<Workload, String> {
        match text.to_ascii_lowercase().as_str() {
            "w1" => Ok(Workload::W1),
            "w2" => Ok(Workload::W2),
            "w3" => Ok(Workload::W3),
            "w4" => Ok(Workload::W4),
            "w5" => Ok(Workload::W5),
            _ => Err(format!(
                "unknown workload `{text}`: expected one of w1 w2 w3 w4 w5"
            )),
        }
    }

    pub fn id(self) -> &'static str {
        match self {
            Workload::W1 => "w1",
            Workload::W2 => "w2",
            Workload::W3 => "w3",
            Workload::W4 => "w4",
            Workload::W5 => "w5",
        }
    }

    /// The MQTT filter the engine subscribes to.
    pub fn filter(self) -> &'static str {
        match self {
            Workload::W1 | Workload::W2 => "bench/telemetry",
            Workload::W3 => "bench/esphome/+/sensor/temperature/state",
            Workload::W4 => "bench/vehicles/+/telemetry",
            Workload::W5 => "bench/chargers/+/session",
        }
    }

    /// Message `i` belongs to device `i % devices()`.
    pub fn devices(self) -> u64 {
        match self {
            Workload::W1 | Workload::W2 => 1_000,
            Workload::W3 | Workload::W4 => 10_000,
            Workload::W5 => 2_000,
        }
    }

    /// After so many messages all values but `id` and `ts` repeat: three rounds of the devices,
    /// so that a device does not send one value for ever and aggregates can be wrong.
    pub fn period(self) -> u64 {
        self.devices() * 3
    }

    pub fn device_of(self, i: u64) -> u64 {
        i % self.devices()
    }

    pub fn device_name(self, device: u64) -> String {
        match self {
            Workload::W1 | Workload::W2 => format!("dev-{device:04}"),
            Workload::W3 => format!("node-{device:05}"),
            Workload::W4 => format!("WVWZZZ1KZ{device:08}"),
            Workload::W5 => format!("charger-{device:05}"),
        }
    }

    pub fn topic_of(self, device: &str) -> String {
        self.filter().replace('+', device)
    }

    /// Temperature in tenths: 20.0 to 34.9. Of every 150 messages the first eleven are at or
    /// below 21.0, so 139 pass `temp > 21.0`, and 21.0 itself is there to catch a wrong `>=`.
    pub fn temp_tenths(self, i: u64) -> u64 {
        200 + (i % self.period()) % 150
    }

    /// Speed in tenths, 10.0 to 99.9, scattered over the period.
    pub fn speed_tenths(self, i: u64) -> u64 {
        100 + (i % self.period()).wrapping_mul(7919) % 900
    }

    /// Whether message `i` passes W1's `temp > 21.0`.
    pub fn passes(self, i: u64) -> bool {
        self.temp_tenths(i) > 210
    }

    /// The text a W3 node sends: one decimal, four characters, different in each round.
    pub fn state_text(self, i: u64) -> String {
        tenths(100 + (i % self.period()).wrapping_mul(31) % 890)
    }

    /// Message `i`, with its own id and time.
    pub fn message(self, i: u64) -> Message {
        let device = self.device_name(self.device_of(i));
        self.write(i, ID_BASE + i, &device)
    }

    /// The `k`-th probe: passes every filter, has a device no other message has.
    pub fn probe(self, k: u64) -> Message {
        let device = format!("probe-{:04}", k % PROBE_DEVICES);
        // Slot 149 has the highest temperature, so the probe passes the filter.
        self.write(149, PROBE_ID_BASE + k, &device)
    }

    fn write(self, i: u64, id: u64, device: &str) -> Message {
        let topic = self.topic_of(device);
        if self == Workload::W3 {
            let payload = self.state_text(i).into_bytes();
            return Message {
                topic,
                payload,
                counters: Vec::new(),
            };
        }
        let slot = i % self.period();
        let mut text = format!("{{\"id\":{id}");
        let mut counters = vec![text.len() - 10];
        text.push_str(&format!(
            ",\"device\":\"{device}\",\"ts\":{TS_PREFIX}{id:010}"
        ));
        counters.push(text.len() - 10);
        let temp = tenths(self.temp_tenths(i));
        let speed = tenths(self.speed_tenths(i));
        text.push_str(&match self {
            Workload::W1 | Workload::W2 | Workload::W3 => {
                let humidity = tenths(300 + slot % 600);
                let status = ["running", "standby", "stopped"][(slot % 3) as usize];
                let (site, cell) = (slot % 9, slot % 100);
                format!(
                    ",\"temp\":{temp},\"humidity\":{humidity},\"speed\":{speed},\
                     \"status\":\"{status}\",\"line\":{{\"site\":\"a{site}\",\
                     \"cell\":\"c{cell:02}\"}}}}"
                )
            }
            Workload::W4 => {
                let (rpm, soc) = (1000 + slot % 5000, tenths(100 + slot % 900));
                format!(
                    ",\"speed\":{speed},\"temp\":{temp},\"rpm\":{rpm},\"soc\":{soc},\
                     \"gear\":{},\"brake\":{}}}",
                    1 + slot % 6,
                    ["true", "null"][(slot % 2) as usize]
                )
            }
            Workload::W5 => {
                let energy = tenths(100 + slot % 900);
                format!(
                    ",\"speed\":{speed},\"temp\":{temp},\"energy\":{energy},\
                     \"connector\":{},\"state\":\"charging\"}}",
                    1 + slot % 4
                )
            }
        });
        Message {
            topic,
            payload: text.into_bytes(),
            counters,
        }
    }
}

/// `215` as `21.5`.
fn tenths(n: u64) -> String {
    format!("{}.{}", n / 10, n % 10)
}

/// Messages sent on one connection: indices `first`, `first + stride`, … , `count` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub first: u64,
    pub stride: u64,
    pub count: u64,
}

impl Part {
    /// Whether message `i` was sent in this part.
    pub fn holds(&self, i: u64) -> bool {
        i >= self.first
            && (i - self.first).is_multiple_of(self.stride)
            && (i - self.first) / self.stride < self.count
    }

    /// Calls `each(residue, times)` for every residue of the message index modulo `modulus`
    /// that this part sent, so per-device counts need no walk over millions of indices.
    pub fn residues(&self, modulus: u64, mut each: impl FnMut(u64, u64)) {
        let cycle = modulus / gcd(modulus, self.stride % modulus);
        for k in 0..cycle.min(self.count) {
            let times = (self.count - k).div_ceil(cycle);
            each((self.first + k * self.stride) % modulus, times);
        }
    }
}

pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w1_passes_139_of_every_150() {
        for start in [0, 150, 2_850, 7_500] {
            let passed = (start..start + 150)
                .filter(|i| Workload::W1.passes(*i))
                .count();
            assert_eq!(passed, 139);
        }
    }

    #[test]
    fn w1_payload_has_the_size_of_the_published_workload() {
        for i in [0, 1, 999, 12_345_678] {
            let message = Workload::W1.message(i);
            let text = String::from_utf8(message.payload).unwrap();
            assert!(
                (140..=152).contains(&text.len()),
                "{} B: {text}",
                text.len()
            );
            assert!(text.starts_with(&format!("{{\"id\":{},\"device\":\"dev-", ID_BASE + i)));
        }
    }

    #[test]
    fn counters_point_at_the_ten_digits_of_id_and_ts() {
        for w in [Workload::W1, Workload::W4, Workload::W5] {
            let message = w.message(42);
            assert_eq!(message.counters.len(), 2);
            for at in message.counters {
                assert_eq!(&message.payload[at..at + 10], b"1000000042", "{}", w.id());
            }
        }
        assert!(Workload::W3.message(42).counters.is_empty());
    }

    #[test]
    fn values_repeat_after_a_period_and_devices_differ_within() {
        let w = Workload::W4;
        let strip = |i: u64| {
            let mut m = w.message(i);
            for at in m.counters {
                m.payload[at..at + 10].fill(b'x');
            }
            (m.topic, m.payload)
        };
        assert_eq!(strip(5), strip(5 + w.period()));
        assert_ne!(strip(5).1, strip(5 + w.devices()).1);
    }

    #[test]
    fn residues_count_what_a_walk_counts() {
        for part in [
            Part {
                first: 3,
                stride: 8,
                count: 1_001,
            },
            Part {
                first: 0,
                stride: 1,
                count: 17,
            },
            Part {
                first: 7,
                stride: 8,
                count: 0,
            },
            Part {
                first: 90,
                stride: 1,
                count: 4_321,
            },
        ] {
            let mut quick = vec![0; 30];
            part.residues(30, |residue, times| quick[residue as usize] += times);
            let mut slow = vec![0; 30];
            for k in 0..part.count {
                slow[((part.first + k * part.stride) % 30) as usize] += 1;
            }
            assert_eq!(quick, slow);
        }
    }

    #[test]
    fn a_part_holds_its_own_indices_only() {
        let part = Part {
            first: 3,
            stride: 8,
            count: 2,
        };
        let held: Vec<u64> = (0..40).filter(|i| part.holds(*i)).collect();
        assert_eq!(held, [3, 11]);
    }
}
