//! Child processes: pinned to a core, limited in memory, ended politely.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A command that runs `program` on `core` with at most `memory` bytes of private data.
pub fn command(program: &str, core: Option<usize>, memory: Option<u64>) -> Command {
    command_on(
        program,
        core.map(|core| core.to_string()).as_deref(),
        memory,
    )
}

/// As `command`, on a list of cores as `taskset` reads it.
pub fn command_on(program: &str, cores: Option<&str>, memory: Option<u64>) -> Command {
    let mut words: Vec<String> = Vec::new();
    if let Some(bytes) = memory {
        words.extend(["prlimit".to_string(), format!("--data={bytes}")]);
    }
    if let Some(cores) = cores {
        words.extend(["taskset".to_string(), "-c".to_string(), cores.to_string()]);
    }
    words.push(program.to_string());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(Stdio::null());
    command
}

/// Pins this process too, so that it does not disturb the engine's core.
pub fn pin_self(core: usize) -> Result<(), String> {
    let pid = std::process::id().to_string();
    let out = Command::new("taskset")
        .args(["-a", "-p", "-c", &core.to_string(), &pid])
        .output();
    match out {
        Ok(out) if out.status.success() => Ok(()),
        Ok(out) => Err(format!(
            "taskset: {}",
            String::from_utf8_lossy(&out.stderr).trim()
        )),
        Err(e) => Err(format!("taskset cannot be run: {e}")),
    }
}

/// A child that ends with its owner: SIGTERM first, SIGKILL when that does not help.
pub struct Owned {
    child: Child,
    name: &'static str,
}

impl Owned {
    pub fn spawn(name: &'static str, command: &mut Command) -> Result<Owned, String> {
        let child = command
            .spawn()
            .map_err(|e| format!("cannot start {name}: {e}"))?;
        Ok(Owned { child, name })
    }

    /// The program's pid: `prlimit` and `taskset` replace themselves with it.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// An error when the process has ended by itself.
    pub fn check(&mut self) -> Result<(), String> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(format!("{} ended by itself: {status}", self.name)),
            Err(e) => Err(format!("{}: {e}", self.name)),
        }
    }

    pub fn end(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_some()) {
            return;
        }
        let pid = self.child.id().to_string();
        let _ = Command::new("kill")
            .args(["-TERM", &pid])
            .stderr(Stdio::null())
            .status();
        let deadline = Instant::now() + Duration::from_secs(8);
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.end();
    }
}

/// A port on 127.0.0.1 that was free a moment ago.
pub fn free_port() -> Result<u16, String> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    listener
        .local_addr()
        .map(|a| a.port())
        .map_err(|e| e.to_string())
}
