//! A control group for the engine, of whichever version there is.
//!
//! A group that somebody else manages is left alone: with version 1 a group is made only where
//! this process itself is in the root group of the controller, with version 2 only below its own
//! group. What could not be had is said in the notes, which go into the record.

use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = "/sys/fs/cgroup";
/// Short, so that a process that used up its share does not stand still for long.
const PERIOD_US: u64 = 20_000;

#[derive(Default)]
pub struct Group {
    folders: Vec<PathBuf>,
    /// Groups of one thread each, below the one that can limit CPU.
    threads: Vec<PathBuf>,
    limiter: Option<(PathBuf, Version)>,
    cpu: Option<(PathBuf, CpuFile)>,
    pub memory_limited: bool,
    pub notes: Vec<String>,
}

#[derive(Clone, Copy)]
enum Version {
    One,
    Two,
}

#[derive(Clone, Copy)]
enum CpuFile {
    /// `cpuacct.usage`: nanoseconds.
    Nanos,
    /// `cpu.stat`: a line `usage_usec N`.
    UsageUsec,
}

impl Group {
    pub fn none(reason: &str) -> Group {
        let mut group = Group::default();
        group.notes.push(reason.to_string());
        group
    }

    /// Makes a group with a memory limit, as far as that is possible here; with `limiter` one whose
    /// threads can be limited ([`limit_threads`](Self::limit_threads)).
    pub fn create(memory: u64, limiter: bool) -> Group {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let name = format!("iotrunner-{}", std::process::id());
        let mut group = Group::default();
        if Path::new(ROOT).join("cgroup.controllers").exists() {
            group.version_2(&own, &name, memory, limiter);
        } else {
            group.version_1(&own, &name, memory, limiter);
        }
        if group.cpu.is_none() {
            group
                .notes
                .push("CPU read from /proc/PID/stat (10 ms steps)".to_string());
        }
        if !group.memory_limited {
            group
                .notes
                .push("memory limited with prlimit --data".to_string());
        }
        group
    }

    fn version_1(&mut self, own: &str, name: &str, memory: u64, limiter: bool) {
        let cpu = limiter.then_some("cpu");
        for controller in ["cpuacct", "memory"].into_iter().chain(cpu) {
            let in_root = own.lines().any(|line| {
                let mut part = line.splitn(3, ':').skip(1);
                part.next()
                    .is_some_and(|list| list.split(',').any(|c| c == controller))
                    && part.next() == Some("/")
            });
            if !in_root {
                self.notes.push(format!(
                    "cgroup v1 {controller}: managed by somebody, left alone"
                ));
                continue;
            }
            let folder = Path::new(ROOT).join(controller).join(name);
            // `cpu` and `cpuacct` may be one and the same folder.
            let made = fs::create_dir(&folder);
            if let Err(e) = made.or_else(|e| folder.is_dir().then_some(()).ok_or(e)) {
                self.notes.push(format!("cgroup v1 {controller}: {e}"));
                continue;
            }
            if controller == "cpu" {
                self.limiter = Some((folder.clone(), Version::One));
                self.folders.push(folder);
                continue;
            }
            if controller == "cpuacct" {
                self.cpu = Some((folder.join("cpuacct.usage"), CpuFile::Nanos));
                self.notes
                    .push("CPU read from cgroup v1 cpuacct.usage".to_string());
            } else {
                let limit = folder.join("memory.limit_in_bytes");
                self.memory_limited = fs::write(limit, memory.to_string()).is_ok();
            }
            self.folders.push(folder);
        }
    }

    fn version_2(&mut self, own: &str, name: &str, memory: u64, limiter: bool) {
        let path = own
            .lines()
            .find_map(|line| line.strip_prefix("0::"))
            .unwrap_or("/");
        let folder = Path::new(ROOT)
            .join(path.trim_start_matches('/'))
            .join(name);
        if let Err(e) = fs::create_dir(&folder) {
            self.notes.push(format!(
                "cgroup v2: cannot make a group below the own one: {e}"
            ));
            return;
        }
        self.cpu = Some((folder.join("cpu.stat"), CpuFile::UsageUsec));
        self.notes
            .push("CPU read from cgroup v2 cpu.stat".to_string());
        self.memory_limited = fs::write(folder.join("memory.max"), memory.to_string()).is_ok();
        if limiter {
            self.limiter = Some((folder.clone(), Version::Two));
        }
        self.folders.push(folder);
    }

    /// Moves a process in.
    pub fn add(&mut self, pid: u32) {
        for folder in &self.folders {
            if let Err(e) = fs::write(folder.join("cgroup.procs"), pid.to_string()) {
                self.notes
                    .push(format!("cgroup: process {pid} not taken: {e}"));
                self.cpu = None;
                self.limiter = None;
            }
        }
    }

    /// Limits each thread of a process to that part of a core. One that starts later belongs to the
    /// group, and so to the limit, of the thread that started it.
    pub fn limit_threads(&mut self, pid: u32, share: f64) -> Result<(), String> {
        let (parent, version) = self.limiter.clone().ok_or("no control group limits CPU here")?;
        let quota = (share * PERIOD_US as f64) as u64;
        let list = fs::read_dir(format!("/proc/{pid}/task"));
        let list = list.map_err(|e| format!("threads of process {pid}: {e}"))?;
        for thread in list.flatten().map(|entry| entry.file_name()) {
            let tid = thread.to_string_lossy();
            let folder = parent.join(format!("thread-{tid}"));
            let put = |file: &str, text: &str| fs::write(folder.join(file), text);
            fs::create_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
            self.threads.push(folder.clone());
            let limited = match version {
                Version::One => put("cpu.cfs_period_us", &PERIOD_US.to_string())
                    .and_then(|()| put("cpu.cfs_quota_us", &quota.to_string()))
                    .and_then(|()| put("tasks", &tid)),
                Version::Two => put("cgroup.type", "threaded")
                    .and_then(|()| fs::write(parent.join("cgroup.subtree_control"), "+cpu"))
                    .and_then(|()| put("cpu.max", &format!("{quota} {PERIOD_US}")))
                    .and_then(|()| put("cgroup.threads", &tid)),
            };
            limited.map_err(|e| format!("thread {tid} of process {pid}: {e}"))?;
        }
        Ok(())
    }

    /// CPU time of the group so far, in nanoseconds.
    pub fn cpu_ns(&self) -> Option<u64> {
        let (path, kind) = self.cpu.as_ref()?;
        let text = fs::read_to_string(path).ok()?;
        match kind {
            CpuFile::Nanos => text.trim().parse().ok(),
            CpuFile::UsageUsec => {
                let line = text
                    .lines()
                    .find_map(|line| line.strip_prefix("usage_usec "))?;
                line.trim().parse::<u64>().ok().map(|us| us * 1000)
            }
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in self.threads.iter().chain(&self.folders) {
            // The last process may need a moment to be gone.
            for _ in 0..50 {
                if fs::remove_dir(folder).is_ok() {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
    }
}
