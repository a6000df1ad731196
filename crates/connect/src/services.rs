//! What connectors share of the process around them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use rekuiper_broker::BrokerHandle;
use rekuiper_rt::Clock;

use crate::data_server::DataServer;
use crate::log_to_memory::ResultLog;
use crate::memory::MemoryBus;
use crate::mqtt::ClientPool;

/// One for the whole process; tests make their own.
pub struct Services {
    pub clock: Clock,
    /// Base folder: relative paths of users start here.
    pub base: PathBuf,
    pub data: PathBuf,
    /// MQTT clients that several rules share (connectionSelector).
    pub mqtt: ClientPool,
    /// Topics between rules.
    pub memory: MemoryBus,
    /// Results of rules with a `logToMemory` action.
    pub results: ResultLog,
    /// The broker inside this process, with the addresses it listens on.
    pub broker: OnceLock<(BrokerHandle, Vec<SocketAddr>)>,
    /// Queues of whoever holds the engine in this process.
    pub embedded: crate::embed::Embedded,
    /// The port that httppush, websocket and sse share; set once by whoever holds it.
    pub data_server: OnceLock<Arc<dyn DataServer>>,
    /// `basic.enablePrivateNet`: HTTP connectors may reach private and loopback addresses.
    pub private_net: AtomicBool,
}

impl Services {
    pub fn new(clock: Clock, base: PathBuf, data: PathBuf) -> Arc<Self> {
        Arc::new(Services {
            clock,
            base,
            data,
            mqtt: ClientPool::default(),
            memory: MemoryBus::default(),
            results: ResultLog::default(),
            broker: OnceLock::new(),
            embedded: Default::default(),
            data_server: OnceLock::new(),
            private_net: AtomicBool::new(false),
        })
    }

    pub fn allows_private_net(&self) -> bool {
        self.private_net.load(Relaxed)
    }

    /// A path of a user: absolute, or below the base folder.
    pub fn path(&self, path: impl AsRef<std::path::Path>) -> PathBuf {
        self.base.join(path)
    }
}
