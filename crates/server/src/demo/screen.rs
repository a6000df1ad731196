//! What the demo prints: a picture drawn anew each second on a terminal, plain lines elsewhere.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use super::host::Host;
use super::options::Options;
use super::rest::{RULES, Status};
use super::tail::Tail;
use super::usage::Reading;

pub struct Frame {
    pub at: Duration,
    pub sent: u64,
    pub rules: [Status; 2],
    pub usage: Reading,
}

pub struct Screen {
    terminal: bool,
    /// Lines of the picture that stands there.
    drawn: usize,
}

/// A terminal that is gone is no reason to stop in disorder.
pub fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}

impl Screen {
    pub fn new() -> Screen {
        Screen { terminal: std::io::stdout().is_terminal(), drawn: 0 }
    }

    pub fn intro(&self, host: &Host, options: &Options) {
        let (rest, broker) = (host.rest, host.broker);
        let folder = host.folder().display();
        let (devices, connections) = (grouped(options.devices), options.connections);
        say(&format!(
            "rekuiper demo: REST http://{rest}, MQTT broker {broker}, files in {folder}\n\
             {devices} devices on {connections} MQTT connections publish {} messages a second.\n\
             Look around from another terminal:\n  \
             curl -s http://{rest}/streams/telem\n  \
             curl -s http://{rest}/rules/{}/status\n  \
             curl -s http://{rest}/rules/{}/explain\n",
            grouped(options.rate),
            RULES[0],
            RULES[1],
        ));
    }

    pub fn show(&mut self, now: &Frame, before: Option<&Frame>, o: &Options, tails: &[Tail; 2]) {
        if !self.terminal {
            say(plain(now, before, tails).trim_end());
            return;
        }
        let picture = picture(now, before, o, tails);
        let mut text = String::new();
        if self.drawn > 0 {
            let _ = write!(text, "\x1b[{}A", self.drawn);
        }
        // lines that are too long are cut by the terminal, or else the way back up is wrong
        let _ = write!(text, "\r\x1b[J\x1b[?7l{}\x1b[?7h", picture.trim_end());
        self.drawn = picture.trim_end().lines().count();
        say(&text);
    }

    /// The picture stays; what is printed from here on stands below it.
    pub fn close(&mut self) {
        self.drawn = 0;
        if self.terminal {
            say("");
        }
    }
}

/// A second's change, and the numbers of before.
fn rate(now: &Frame, before: Option<&Frame>, of: impl Fn(&Frame) -> u64) -> String {
    let (was, at) = before.map_or((0, 0.0), |b| (of(b), b.at.as_secs_f64()));
    let seconds = (now.at.as_secs_f64() - at).max(0.001);
    let per_second = of(now).saturating_sub(was) as f64 / seconds;
    format!("{}/s", grouped(per_second.round() as u64))
}

fn usage(reading: &Reading) -> String {
    let tell = |v: Option<f64>| v.map_or("-".to_owned(), |v| format!("{v:.1}"));
    format!(
        "CPU server {} % of a core, fleet {} %; memory of both {} MiB, {} MiB of it anonymous",
        tell(reading.server_cpu),
        tell(reading.fleet_cpu),
        tell(reading.resident),
        tell(reading.anonymous)
    )
}

fn picture(now: &Frame, before: Option<&Frame>, o: &Options, tails: &[Tail; 2]) -> String {
    let mut out = String::new();
    let seconds = now.at.as_secs();
    let of = o.seconds.map_or("Ctrl-C ends it".to_owned(), |s| format!("of {s} s"));
    // writing to a string does not fail
    let _ = writeln!(out, "{:02}:{:02} {of}", seconds / 60, seconds % 60);
    let _ = writeln!(out, "sent {} ({})", grouped(now.sent), rate(now, before, |f| f.sent));
    let _ = writeln!(out, "{}", usage(&now.usage));
    for (i, rule) in RULES.iter().enumerate() {
        let s = &now.rules[i];
        let _ = writeln!(
            out,
            "\nrule {rule}: in {} ({}), out {} ({}), errors {}",
            grouped(s.received),
            rate(now, before, |f| f.rules[i].received),
            grouped(s.out),
            rate(now, before, |f| f.rules[i].out),
            s.errors
        );
        for line in tails[i].newest() {
            let _ = writeln!(out, "  {line}");
        }
    }
    out
}

fn plain(now: &Frame, before: Option<&Frame>, tails: &[Tail; 2]) -> String {
    let mut out = String::new();
    let sent = rate(now, before, |f| f.sent);
    let _ = write!(out, "{:3} s: sent {} ({sent})", now.at.as_secs(), grouped(now.sent));
    for (i, rule) in RULES.iter().enumerate() {
        let s = &now.rules[i];
        let (taken, given) = (grouped(s.received), grouped(s.out));
        let _ = write!(out, "; {rule} in {taken}, out {given}, errors {}", s.errors);
    }
    let _ = writeln!(out, "; {}", usage(&now.usage));
    for (rule, tail) in RULES.iter().zip(tails) {
        if let Some(line) = tail.newest().last() {
            let _ = writeln!(out, "       {rule}: {line}");
        }
    }
    out
}

/// 1,234,567.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_in_groups() {
        let all = [0, 12, 999, 1_000, 12_345, 1_234_567].map(grouped);
        assert_eq!(all, ["0", "12", "999", "1,000", "12,345", "1,234,567"]);
    }

    #[test]
    fn plain_lines_have_rates_and_no_escape_codes() {
        let status = |received, out| Status { received, out, ..Status::default() };
        let frame = |s, n| Frame {
            at: Duration::from_secs(s),
            sent: n,
            rules: [status(n, n / 2), status(n, 3)],
            usage: Reading::default(),
        };
        let tails = RULES.map(|rule| Tail::new(std::path::Path::new("."), rule));
        let text = plain(&frame(2, 4000), Some(&frame(1, 1000)), &tails);
        assert!(text.starts_with("  2 s: sent 4,000 (3,000/s); hot in 4,000, out 2,000"), "{text}");
        assert!(!text.contains('\x1b'));
    }
}
