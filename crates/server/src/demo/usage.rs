//! CPU and memory of the demo, from `/proc`: the server's CPU apart from that of the threads that
//! play the outside world.

use std::path::{Path, PathBuf};
use std::time::Instant;

/// Clock ticks a second in `/proc`; fixed on Linux.
const TICKS: f64 = 100.0;

/// Percent of one core, and MiB of the whole process. None where the system does not tell.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    pub server_cpu: Option<f64>,
    pub fleet_cpu: Option<f64>,
    pub resident: Option<f64>,
    pub anonymous: Option<f64>,
}

pub struct Usage {
    fleet: Option<PathBuf>,
    watcher: PathBuf,
    at: Instant,
    /// Process, fleet, this thread.
    before: [Option<f64>; 3],
}

impl Usage {
    /// `fleet`: the thread's folder in `/proc`. The calling thread counts as outside world too.
    pub fn new(fleet: Option<PathBuf>) -> Usage {
        let watcher = std::fs::read_link("/proc/thread-self").unwrap_or_default();
        let watcher = Path::new("/proc").join(watcher);
        let mut usage = Usage { fleet, watcher, at: Instant::now(), before: [None; 3] };
        usage.before = usage.seconds();
        usage
    }

    pub fn read(&mut self) -> Reading {
        let (now, seconds) = (Instant::now(), self.seconds());
        let wall = now.duration_since(self.at).as_secs_f64().max(0.001);
        let percent = |i: usize| Some((seconds[i]? - self.before[i]?) / wall * 100.0);
        let server = || Some((percent(0)? - percent(1)? - percent(2)?).max(0.0));
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let reading = Reading {
            server_cpu: server(),
            fleet_cpu: percent(1),
            resident: mib(&status, "VmRSS:"),
            anonymous: mib(&status, "RssAnon:"),
        };
        (self.at, self.before) = (now, seconds);
        reading
    }

    fn seconds(&self) -> [Option<f64>; 3] {
        let fleet = self.fleet.as_deref().and_then(cpu_seconds);
        [cpu_seconds(Path::new("/proc/self")), fleet, cpu_seconds(&self.watcher)]
    }
}

fn cpu_seconds(folder: &Path) -> Option<f64> {
    let stat = std::fs::read_to_string(folder.join("stat")).ok()?;
    // the name in brackets may hold spaces: count from behind it
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / TICKS)
}

fn mib(status: &str, key: &str) -> Option<f64> {
    let line = status.lines().find_map(|l| l.strip_prefix(key))?;
    let kib: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024.0)
}
