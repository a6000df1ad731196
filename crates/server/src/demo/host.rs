//! The server of the demo: started and stopped as `kuiperd` is, with embedded defaults.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};

use rekuiper_broker::BrokerHandle;
use rekuiper_server::config::{Config, Env, Place};
use rekuiper_server::logging::Log;
use rekuiper_server::{Running, Starter};

/// Ports that are tried from the usual one on.
const PORTS: u16 = 100;
const TRIES: usize = 20;

pub struct Host {
    pub rest: SocketAddr,
    pub broker: SocketAddr,
    /// Where the rules write.
    pub results: PathBuf,
    running: Running,
    broker_handle: BrokerHandle,
    folder: Folder,
}

impl Host {
    /// A port may be taken by another between the look and the start: then the next ones are
    /// tried.
    pub async fn start() -> Result<Host, String> {
        let mut tries = 0;
        loop {
            let ports = [free(9081)?, free(1883)?, free(10_081)?];
            match Host::start_at(ports).await {
                Err(_) if tries < TRIES && ports.iter().any(|port| !is_free(*port)) => tries += 1,
                started => return started,
            }
        }
    }

    async fn start_at([rest, broker, data]: [u16; 3]) -> Result<Host, String> {
        let folder = Folder::new()?;
        let results = folder.0.join("results");
        // with folders of its own it looks for none above
        for name in ["etc", "data", "log", "plugins", "results"] {
            let dir = folder.0.join(name);
            std::fs::create_dir(&dir)
                .map_err(|e| format!("folder {} cannot be made: {e}", dir.display()))?;
        }
        let (rest, data) = (rest.to_string(), data.to_string());
        let listener = format!("{}:{broker}", Ipv4Addr::LOCALHOST);
        let settings = [
            ("KUIPER__BASIC__RESTIP", "127.0.0.1"),
            ("KUIPER__BASIC__RESTPORT", rest.as_str()),
            ("KUIPER__SOURCE__HTTPSERVERIP", "127.0.0.1"),
            ("KUIPER__SOURCE__HTTPSERVERPORT", data.as_str()),
            ("KUIPER__BROKER__ENABLE", "true"),
            ("KUIPER__BROKER__LISTENER", listener.as_str()),
        ];
        let config = Config::load(&Place::Relative(folder.0.clone()), Env::new(&settings))?;
        let log = Log::new(&config.log, &config.dirs.log);
        let starter = Starter::open(config, log.clone()).await?;
        let broker = crate::broker(&starter.config).await?;
        log.install();
        let engine = crate::engine(&starter, broker.as_ref())?;
        let running = starter.run(engine).await?;
        let (broker_handle, addresses) = broker.ok_or("the embedded broker did not start")?;
        let broker = *addresses.first().ok_or("the embedded broker listens nowhere")?;
        Ok(Host { rest: running.rest, broker, results, running, broker_handle, folder })
    }

    pub fn folder(&self) -> &Path {
        &self.folder.0
    }

    /// Says so when Ctrl-C is pressed or the process is asked to end.
    pub fn stop_asked(&self, runtime: &tokio::runtime::Handle) -> Receiver<()> {
        let (tell, asked) = sync_channel(1);
        runtime.spawn(async move {
            crate::signalled().await;
            let _ = tell.try_send(());
        });
        asked
    }

    pub async fn shut_down(self) -> Result<(), String> {
        let code = self.running.shut_down().await;
        self.broker_handle.shutdown().await;
        self.folder.remove()?;
        match code {
            0 => Ok(()),
            code => Err(format!("the server ended with code {code}")),
        }
    }
}

/// The usual port, or the next one that nobody has.
fn free(usual: u16) -> Result<u16, String> {
    let mut ports = usual..usual + PORTS;
    ports.find(|port| is_free(*port)).ok_or_else(|| {
        format!("no port from {usual} to {} is free on 127.0.0.1", usual + PORTS - 1)
    })
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// A temporary folder for this process alone, removed in any case.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, String> {
        let parent = std::env::temp_dir();
        let stamp = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let stamp = stamp.map_or(0, |t| t.as_micros());
        let path = parent.join(format!("rekuiper-demo-{}-{stamp}", std::process::id()));
        let made = std::fs::DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|e| format!("temporary folder {} cannot be made: {e}", path.display()))?;
        Ok(Folder(path))
    }

    fn remove(&self) -> Result<(), String> {
        std::fs::remove_dir_all(&self.0)
            .map_err(|e| format!("temporary folder {} is left behind: {e}", self.0.display()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.0.exists() {
            let _ = self.remove();
        }
    }
}
