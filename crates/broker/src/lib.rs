//! An MQTT broker to live inside another process: 3.1, 3.1.1 and 5, QoS 0 to 2, retained
//! messages, wills, shared subscriptions, sessions that outlive their connection.
//!
//! The rooms, from the pure to the rim: [`session`](mod@session) is what the broker remembers of
//! one client, `router` who hears which topic, `retained` the last message of each topic; `core`
//! puts them together and decides everything, given facts and a `now`. Only `listener` (sockets),
//! `link` (the in-process door) and `handle` (start, tick, stop) know tokio.
//!
//! What this crate does NOT know: rules, streams, SQL, files. It keeps nothing on disk. Every
//! queue is bounded ([`limits`]), and what a bound drops is counted ([`Stats`]).

mod auth;
mod config;
mod core;
mod door;
mod handle;
pub mod limits;
mod link;
mod listener;
mod message;
mod retained;
mod router;
mod session;
mod stats;

pub use config::{BrokerConfig, User};
pub use handle::{Broker, BrokerError, BrokerHandle};
pub use limits::Limits;
pub use link::{
    AckHandle, Link, LinkError, LinkHandle, LinkMessage, LinkOptions, LinkPolicy, LinkStats, Text,
};
pub use rekuiper_mqtt_codec::QoS;
pub use stats::Stats;
