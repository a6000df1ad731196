//! `mqttgen`: the load side of the MQTT benchmarks.
//!
//! It knows how to write the payloads of workloads W1 to W5, how to frame them as MQTT 3.1.1 or 5
//! PUBLISH packets, how to send them on a fixed schedule to a broker ([`load`]) and how to play
//! the broker towards one engine and push as fast as its socket takes them ([`direct`]).
//!
//! It does NOT know the engine: no dependency at all, its own tiny codec, its own JSON writer.
//! What message `i` of a workload holds is a pure function of `i` ([`workload`]), so whoever
//! reads the engine's output can compute what must be in it.

pub mod args;
pub mod cli;
pub mod control;
pub mod digits;
pub mod direct;
pub mod load;
pub mod mqtt;
pub mod peer;
pub mod report;
pub mod ring;
pub mod sink_check;
pub mod workload;
