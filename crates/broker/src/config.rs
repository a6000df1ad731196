//! What the caller of [`Broker::start`](crate::Broker::start) decides.

use std::net::SocketAddr;

use crate::Limits;

/// A user name with its password.
#[derive(Clone)]
pub struct User {
    pub name: String,
    pub password: String,
}

impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("User")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Where to listen, whom to let in, how much to hold.
#[derive(Clone, Debug)]
pub struct BrokerConfig {
    /// TCP addresses; none = only in-process links
    pub listeners: Vec<SocketAddr>,
    /// May a client come without a user name?
    pub allow_anonymous: bool,
    pub users: Vec<User>,
    pub limits: Limits,
}

impl Default for BrokerConfig {
    fn default() -> Self {
        BrokerConfig {
            listeners: Vec::new(),
            allow_anonymous: true,
            users: Vec::new(),
            limits: Limits::default(),
        }
    }
}
