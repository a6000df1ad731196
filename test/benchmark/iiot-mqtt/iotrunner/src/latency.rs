//! From publish to file line: the generator writes down when each message was given to its socket,
//! a follower reads the sink as it grows and stamps each line, and the two are joined by id.
//!
//! The follower sleeps until the system says that the file has changed; its own wake-up is part of
//! each figure. It and the generator come before everybody else on their core ([`first_in_line`]),
//! or what is measured would be how long they wait for the broker.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use mqttgen::report::unix_ns;
use mqttgen::workload::{ID_BASE, Workload};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};

/// How often the follower looks whether it shall end.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// Between two looks where changes are not told.
const POLL: Duration = Duration::from_micros(100);
const KEY: &[u8] = b"\"id\":";

pub struct Follower {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Seen, String>>,
}

/// What the follower saw.
#[derive(Debug, Default)]
pub struct Seen {
    /// (message index, epoch ns at which its line was whole)
    lines: Vec<(u64, u64)>,
    /// How the follower was told of changes and where it stood in line.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Latency {
    /// Sorted, in ns.
    pub ns: Vec<u64>,
    /// Messages that must have a line and were never seen to come.
    pub unseen: u64,
}

impl Follower {
    /// Follows from the present end of the file on.
    pub fn start(path: &Path) -> Result<Follower, String> {
        let failed = |e: std::io::Error| format!("cannot follow {}: {e}", path.display());
        let mut file = File::open(path).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        let stop = Arc::new(AtomicBool::new(false));
        let (ended, changes) = (stop.clone(), Changes::of(path));
        let thread = std::thread::spawn(move || {
            follow(file, &changes, &ended).map_err(|e| format!("following the sink: {e}"))
        });
        Ok(Follower { stop, thread })
    }

    pub fn finish(self) -> Result<Seen, String> {
        self.stop.store(true, Ordering::Release);
        let joined = self.thread.join();
        joined.unwrap_or_else(|_| Err("the follower ended by a panic".to_string()))
    }
}

/// Puts a thread before all others of its core that the system schedules by turns. Not everybody
/// may ask for that: what came of it goes into the record.
pub fn first_in_line(what: &str, thread: &str) -> String {
    let asked = Command::new("chrt").args(["-f", "-p", "10", thread]).output();
    match asked {
        Ok(out) if out.status.success() => format!("{what}: real-time priority (chrt -f 10)"),
        Ok(out) => {
            format!("{what}: no priority, {}", String::from_utf8_lossy(&out.stderr).trim())
        }
        Err(e) => format!("{what}: no priority, chrt: {e}"),
    }
}

/// Tells when a file has changed.
struct Changes(Result<OwnedFd, String>);

impl Changes {
    fn of(path: &Path) -> Changes {
        let told = || {
            let fd = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
            add_watch(&fd, path, WatchFlags::MODIFY)?;
            Ok(fd)
        };
        Changes(told().map_err(|e: rustix::io::Errno| e.to_string()))
    }

    fn note(&self) -> String {
        match &self.0 {
            Ok(_) => "the follower is told of changes by inotify".to_string(),
            Err(e) => format!("the follower looks every {POLL:?}: inotify: {e}"),
        }
    }

    /// Returns when something may have changed since the last time.
    fn wait(&self) -> std::io::Result<()> {
        let Ok(fd) = &self.0 else {
            std::thread::sleep(POLL);
            return Ok(());
        };
        poll(&mut [PollFd::new(fd, PollFlags::IN)], Some(&LOOK))?;
        // what they say does not matter, only that they are gone before the file is read
        let mut news = [0u8; 4096];
        match rustix::io::read(fd, &mut news) {
            Ok(_) | Err(rustix::io::Errno::AGAIN) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }
}

fn follow(mut file: File, changes: &Changes, stop: &AtomicBool) -> std::io::Result<Seen> {
    let thread = rustix::thread::gettid().as_raw_nonzero().to_string();
    let notes = vec![changes.note(), first_in_line("follower", &thread)];
    let mut seen = Seen { notes, ..Seen::default() };
    let mut buffer = vec![0u8; 256 * 1024];
    let mut filled = 0;
    loop {
        let last_round = stop.load(Ordering::Acquire);
        let n = file.read(&mut buffer[filled..])?;
        let now = unix_ns();
        if n > 0 {
            let end = filled + n;
            let used = seen.take(&buffer[..end], now);
            if used == 0 && end == buffer.len() {
                return Err(std::io::Error::other("a line is longer than the buffer"));
            }
            buffer.copy_within(used..end, 0);
            filled = end - used;
        } else if last_round {
            return Ok(seen);
        } else {
            changes.wait()?;
        }
    }
}

impl Seen {
    /// Notes the whole lines in `bytes`; returns how many bytes they are. A row is there with its
    /// last brace: an engine may write the end of a line only with the next one. (The rows of W1
    /// have no brace inside.)
    fn take(&mut self, bytes: &[u8], now: u64) -> usize {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            if let Some(index) = index_of(&bytes[start..end]) {
                self.lines.push((index, now));
            }
            start = end + 1;
        }
        if bytes.last() == Some(&b'}') {
            self.lines
                .extend(index_of(&bytes[start..]).map(|index| (index, now)));
            start = bytes.len();
        }
        start
    }
}

/// The message index of a line; probes have smaller ids and no index.
fn index_of(line: &[u8]) -> Option<u64> {
    let at = memchr::memmem::find(line, KEY)? + KEY.len();
    let digits = line[at..].iter().take_while(|b| b.is_ascii_digit());
    let id = digits.fold(0u64, |n, b| {
        n.saturating_mul(10).saturating_add(u64::from(b - b'0'))
    });
    id.checked_sub(ID_BASE)
}

/// Joins what was seen with the generator's stamps (`first stride count unix_ns` a line).
pub fn join(workload: Workload, seen: &Seen, stamps: &str) -> Result<Latency, String> {
    let mut sent = HashMap::new();
    for line in stamps.lines() {
        let words: Vec<u64> = line.split(' ').filter_map(|w| w.parse().ok()).collect();
        let [first, stride, count, at] = words[..] else {
            return Err(format!("not a stamp of mqttgen: `{line}`"));
        };
        let passing = (0..count)
            .map(|k| first + k * stride)
            .filter(|i| workload.passes(*i));
        sent.extend(passing.map(|i| (i, at)));
    }
    let mut latency = Latency::default();
    for (index, at) in &seen.lines {
        // A line that nobody sent, or sent twice, is for the proof to find.
        if let Some(from) = sent.remove(index) {
            latency.ns.push(at.saturating_sub(from));
        }
    }
    latency.unseen = sent.len() as u64;
    latency.ns.sort_unstable();
    Ok(latency)
}

/// The value that `part` of the sorted list do not exceed.
pub fn percentile(sorted: &[u64], part: f64) -> u64 {
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or(0)
}

/// (upper end in us, count) of the buckets that hold something: 10 us wide up to 10 ms, then 1 ms.
pub fn histogram(sorted: &[u64]) -> Vec<(u64, u64)> {
    let mut list: Vec<(u64, u64)> = Vec::new();
    for ns in sorted {
        let us = ns / 1_000;
        let width = if us < 10_000 { 10 } else { 1_000 };
        let top = (us / width + 1) * width;
        match list.last_mut() {
            Some((last, count)) if *last == top => *count += 1,
            _ => list.push((top, 1)),
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_follower_sees_lines_that_grow_in_pieces_and_skips_what_was_there() {
        let path = std::env::temp_dir().join(format!("iotrunner-follow-{}", std::process::id()));
        let mut file = File::create(&path).unwrap();
        file.write_all(b"{\"id\":900000001,\"device\":\"probe-0001\"}\n")
            .unwrap();
        let follower = Follower::start(&path).unwrap();
        let before = unix_ns();
        file.write_all(b"{\"id\":10000").unwrap();
        file.write_all(b"00020,\"x\":1}\n{\"id\":1000000021}")
            .unwrap();
        // The end of a line may come with the next row.
        file.write_all(b"\n{\"id\":1000000022}").unwrap();
        let seen = follower.finish().unwrap();
        std::fs::remove_file(&path).unwrap();
        let indices: Vec<u64> = seen.lines.iter().map(|(index, _)| *index).collect();
        assert_eq!(indices, [20, 21, 22]);
        assert!(seen.lines.iter().all(|(_, at)| *at >= before));
    }

    #[test]
    fn lines_and_stamps_meet_by_id_and_what_never_came_is_counted() {
        // Of messages 11, 19, 27 all pass; message 3 does not.
        let seen = Seen {
            lines: vec![(11, 1_500), (27, 4_000), (999, 9_000)],
            notes: Vec::new(),
        };
        let latency = join(Workload::W1, &seen, "3 8 4 1000\n").unwrap();
        assert_eq!(latency.ns, [500, 3_000]);
        assert_eq!(latency.unseen, 1);
        assert!(join(Workload::W1, &seen, "3 8 4").is_err());
    }

    #[test]
    fn percentiles_are_ranks() {
        let list: Vec<u64> = (1..=1_000).collect();
        assert_eq!(percentile(&list, 0.5), 500);
        assert_eq!(percentile(&list, 0.999), 999);
        assert_eq!(percentile(&list, 1.0), 1_000);
        assert_eq!(percentile(&[], 0.5), 0);
        let buckets = histogram(&[1_000, 9_999, 10_000, 12_345_678]);
        assert_eq!(buckets, [(10, 2), (20, 1), (13_000, 1)]);
    }
}
