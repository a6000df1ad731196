//! MQTT 3.1, 3.1.1 and 5 in one codec: bytes in, packets out.
//!
//! Two levels. The hot one borrows and never allocates: [`frame::scan`] finds the next complete
//! packet in a read buffer, [`publish::view`] gives the ranges of a PUBLISH, [`publish::write`]
//! puts one into a write buffer. The comfortable one is the owned [`Packet`]. One packet kind is
//! one file, for all protocol versions together.
//!
//! What this crate does NOT know: sockets, time, sessions, who may do what. It holds no state
//! between two calls, and no sequence of bytes makes it panic.

pub mod ack;
pub mod auth;
pub mod connack;
pub mod connect;
pub mod disconnect;
mod error;
pub mod frame;
mod packet;
pub mod property;
pub mod publish;
mod reason;
pub mod suback;
pub mod subscribe;
pub mod topic;
pub mod unsuback;
pub mod unsubscribe;
mod version;
mod wire;

pub use ack::Ack;
pub use auth::Auth;
pub use connack::ConnAck;
pub use connect::{Connect, Will};
pub use disconnect::Disconnect;
pub use error::CodecError;
pub use frame::{Frame, PacketKind};
pub use packet::Packet;
pub use property::{Properties, Property, VarInt};
pub use publish::{Publish, PublishView};
pub use reason::ReasonCode;
pub use suback::SubAck;
pub use subscribe::{RetainHandling, Subscribe, SubscribeFilter};
pub use topic::{topic_matches, valid_filter, valid_name};
pub use unsuback::UnsubAck;
pub use unsubscribe::Unsubscribe;
pub use version::{QoS, Version};
