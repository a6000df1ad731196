//! What whoever started the generator tells it while it runs: one word a line on stdin.

use std::io::BufRead;
use std::sync::mpsc::{Receiver, channel};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// `probe N`: send N warm-up probes.
    Probe(u64),
    /// `start`: begin the schedule.
    Start,
    /// `quit`, or the end of the input.
    Quit,
}

impl Command {
    pub fn parse(line: &str) -> Option<Command> {
        let mut words = line.split_whitespace();
        match (words.next()?, words.next()) {
            ("probe", None) => Some(Command::Probe(1)),
            ("probe", Some(n)) => n.parse().ok().map(Command::Probe),
            ("start", None) => Some(Command::Start),
            ("quit", None) => Some(Command::Quit),
            _ => None,
        }
    }
}

/// Commands from stdin, read by a thread of its own. Unknown lines are named on stderr. The end of
/// the input means `quit` if `end_quits`, else nothing: then only `quit` or a signal ends it.
pub fn from_stdin(end_quits: bool) -> Receiver<Command> {
    let (to, from) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            match Command::parse(&line) {
                Some(command) if to.send(command).is_err() => return,
                Some(_) => {}
                None => eprintln!("unknown command `{line}`: expected probe [N], start or quit"),
            }
        }
        if end_quits {
            let _ = to.send(Command::Quit);
            return;
        }
        // Kept open: a closed channel would mean the end as well.
        loop {
            std::thread::park();
        }
    });
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_known() {
        assert_eq!(Command::parse("probe 256"), Some(Command::Probe(256)));
        assert_eq!(Command::parse("start"), Some(Command::Start));
        assert_eq!(Command::parse("quit"), Some(Command::Quit));
        assert_eq!(Command::parse("probe x"), None);
        assert_eq!(Command::parse(""), None);
    }
}
