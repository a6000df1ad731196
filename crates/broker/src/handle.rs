//! Starting, asking and stopping a broker.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};

use crate::core::Core;
use crate::limits::SHUTDOWN_MS;
use crate::link::{Link, LinkError, LinkOptions};
use crate::{BrokerConfig, Stats, listener};

/// Why a broker did not start.
#[derive(Debug, thiserror::Error)]
pub enum BrokerError {
    #[error("cannot listen on {address}: {error}; is another broker running there?")]
    Listen {
        address: SocketAddr,
        error: std::io::Error,
    },
}

/// What all tasks of one broker share.
pub(crate) struct Shared {
    core: Mutex<Core>,
    started: Instant,
    live: AtomicUsize,
    emptied: Notify,
    pub(crate) stop: watch::Sender<bool>,
}

impl Shared {
    pub(crate) fn now(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    /// Tasks there are: connections, and a few of the broker's own.
    pub(crate) fn live(&self) -> usize {
        self.live.load(Ordering::Relaxed)
    }

    /// Does something to the core, then wakes those whom it concerns.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut Core) -> R) -> R {
        let mut core = self.core.lock().unwrap_or_else(PoisonError::into_inner);
        let result = work(&mut core);
        let knocks = core.take_knocks();
        drop(core);
        for door in knocks {
            door.knock();
        }
        result
    }

    /// Runs a task that `shutdown` waits for.
    pub(crate) fn spawn(self: &Arc<Self>, task: impl Future<Output = ()> + Send + 'static) {
        let guard = Live::new(self);
        tokio::spawn(async move {
            let _guard = guard;
            task.await;
        });
    }
}

struct Live(Arc<Shared>);

impl Live {
    fn new(shared: &Arc<Shared>) -> Live {
        shared.live.fetch_add(1, Ordering::AcqRel);
        Live(shared.clone())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if self.0.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.emptied.notify_waiters();
        }
    }
}

/// The embedded broker; see [`Broker::start`].
pub struct Broker;

impl Broker {
    /// Binds all listeners and begins to serve. Must be called within a tokio runtime.
    pub async fn start(config: BrokerConfig) -> Result<BrokerHandle, BrokerError> {
        let mut sockets = Vec::new();
        for &address in &config.listeners {
            let listen = |error| BrokerError::Listen { address, error };
            sockets.push(TcpListener::bind(address).await.map_err(listen)?);
        }
        let addresses = sockets.iter().filter_map(|s| s.local_addr().ok()).collect();
        let config = Arc::new(config);
        let shared = Arc::new(Shared {
            core: Mutex::new(Core::new(config.clone())),
            started: Instant::now(),
            live: AtomicUsize::new(0),
            emptied: Notify::new(),
            stop: watch::Sender::new(false),
        });
        for socket in sockets {
            shared.spawn(listener::accept(socket, shared.clone()));
        }
        shared.spawn(tick(shared.clone(), config.limits.tick_ms));
        Ok(BrokerHandle {
            shared,
            config,
            addresses,
        })
    }
}

/// The only timer of the broker: one for all connections.
async fn tick(shared: Arc<Shared>, every_ms: u64) {
    let mut stop = shared.stop.subscribe();
    let mut interval = tokio::time::interval(Duration::from_millis(every_ms.max(1)));
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = interval.tick() => {
                let now = shared.now();
                shared.with(|core| core.tick(now));
            }
            _ = stop.wait_for(|stop| *stop) => return,
        }
    }
}

/// A running broker. Clones mean the same broker, which runs until [`BrokerHandle::shutdown`].
#[derive(Clone)]
pub struct BrokerHandle {
    pub(crate) shared: Arc<Shared>,
    config: Arc<BrokerConfig>,
    addresses: Arc<[SocketAddr]>,
}

impl BrokerHandle {
    /// The address of the first listener; with port 0 asked for, the port that was given.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.addresses.first().copied()
    }

    pub fn local_addrs(&self) -> &[SocketAddr] {
        &self.addresses
    }

    pub fn config(&self) -> &BrokerConfig {
        &self.config
    }

    pub fn stats(&self) -> Stats {
        self.shared.with(|core| core.snapshot())
    }

    /// Opens an in-process door with default options; `name` is for logs and counters.
    pub fn link(&self, name: &str) -> Result<Link, LinkError> {
        self.link_with(name, LinkOptions::default())
    }

    /// Opens an in-process door.
    pub fn link_with(&self, name: &str, options: LinkOptions) -> Result<Link, LinkError> {
        Link::open(self.shared.clone(), name, options)
    }

    /// Takes no more connections, says goodbye to those there are, and waits for their end.
    pub async fn shutdown(&self) {
        self.shared.stop.send_replace(true);
        self.shared.with(|core| core.shut_down());
        let ended = async {
            loop {
                let emptied = self.shared.emptied.notified();
                tokio::pin!(emptied);
                emptied.as_mut().enable();
                if self.shared.live.load(Ordering::Acquire) == 0 {
                    return;
                }
                emptied.await;
            }
        };
        if tokio::time::timeout(Duration::from_millis(SHUTDOWN_MS), ended)
            .await
            .is_err()
        {
            tracing::warn!("broker: some connections did not end in time and were left alone");
        }
    }
}
