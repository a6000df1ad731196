//! Clients that several rules share: one per named connection.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use rekuiper_rt::Clock;

use super::{Client, ClientOptions};
use crate::{ConnStatus, ConnectError};

/// Address of the broker and client id.
type Identity = (String, String);
/// Who uses a client id, and its client.
type User = (String, Weak<Client>);

/// See the module's doc. A client ends when its last user lets go.
#[derive(Default)]
pub struct ClientPool {
    clients: Mutex<HashMap<String, (ClientOptions, Weak<Client>)>>,
    /// Client ids in use, with who uses them.
    ids: Mutex<HashMap<Identity, User>>,
}

impl ClientPool {
    /// A client with these options: the shared one of its `connectionSelector`, else a new one.
    /// A client id that another connection to the same broker already uses is refused, with the
    /// other's name: the two would throw each other out for ever.
    pub fn client(
        &self,
        options: &ClientOptions,
        user: &str,
        clock: &Clock,
        status: &Arc<ConnStatus>,
    ) -> Result<Arc<Client>, ConnectError> {
        if options.selector.is_empty() {
            let client = || {
                Arc::new(Client::start(options.clone(), clock.clone(), status.clone()))
            };
            return self.with_id(options, user, client);
        }
        let mut clients = self.clients.lock().unwrap_or_else(|e| e.into_inner());
        if let Some((known, client)) = clients.get(&options.selector)
            && known.address() == options.address()
            && let Some(client) = client.upgrade()
        {
            return Ok(client);
        }
        let client = self.with_id(options, user, || {
            Arc::new(Client::start(options.clone(), clock.clone(), Arc::default()))
        })?;
        clients.insert(options.selector.clone(), (options.clone(), Arc::downgrade(&client)));
        Ok(client)
    }

    fn with_id(
        &self,
        options: &ClientOptions,
        user: &str,
        start: impl FnOnce() -> Arc<Client>,
    ) -> Result<Arc<Client>, ConnectError> {
        if options.client_id.is_empty() {
            return Ok(start());
        }
        let key = (options.address(), options.client_id.clone());
        let mut ids = self.ids.lock().unwrap_or_else(|e| e.into_inner());
        ids.retain(|_, (_, client)| client.strong_count() > 0);
        if let Some((other, _)) = ids.get(&key) {
            return Err(ConnectError::config(format!(
                "client id {:?} at {} is in use by {other}: give each connection its own clientid, \
                 or share one with connectionSelector",
                key.1, key.0
            )));
        }
        let client = start();
        ids.insert(key, (user.to_owned(), Arc::downgrade(&client)));
        Ok(client)
    }
}
