//! `parallel-rules`: many rules on one MQTT stream, started through REST, with the outcome proven.
//!
//! It knows the cases P1, P2, P3 and `idle`, how to feed a stream on a fixed schedule, how to
//! create rules quickly, and how to prove files and counters against what was sent.
//!
//! It does NOT know the inside of the engine: a program at a path, spoken to over REST and MQTT.

pub mod case;
pub mod engine;
pub mod evidence;
pub mod feed;
pub mod idle;
pub mod load;
pub mod proof;
pub mod record;
