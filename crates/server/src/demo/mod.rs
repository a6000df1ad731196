//! `kuiperd demo`: the whole product on one screen. A server as every other, with the embedded
//! broker, on loopback and in a folder that goes away; a simulated fleet that publishes to it over
//! TCP; two rules made through the REST API; and at the end the proof that nothing was lost.
//!
//! What stands in for the outside world (fleet, REST client, reader of the files) runs on threads
//! of its own, so that the CPU of the server can be told from theirs.

mod fleet;
mod host;
mod options;
mod proof;
mod rest;
mod screen;
mod tail;
mod usage;

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use fleet::Fleet;
use host::Host;
use options::Options;
use proof::{Counts, Rows};
use rest::{RULES, Rest, Status};
use screen::{Frame, Screen};
use tail::Tail;
use usage::Usage;

/// After the last message results are waited for until nothing new came for this time, in which
/// the window of `by_device` closes in any case.
const QUIET: Duration = Duration::from_secs(6);
/// Files are read this often, so that a reading stays short.
const LOOK: Duration = Duration::from_millis(100);

/// The exit code: 0 if the proof holds.
pub fn run(args: impl Iterator<Item = String>) -> Result<i32, String> {
    let Some(options) = Options::parse(args)? else {
        screen::say(options::USAGE);
        return Ok(0);
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|e| format!("the runtime cannot start: {e}"))?;
    let host = runtime.block_on(Host::start())?;
    let stop = host.stop_asked(runtime.handle());
    let shown = Demo::new(&host, options).and_then(|mut demo| demo.play(&stop));
    let left = runtime.block_on(host.shut_down());
    runtime.shutdown_timeout(Duration::from_secs(2));
    let holds = shown?;
    left?;
    match holds {
        true => screen::say("The proof holds. Server stopped, temporary folder removed."),
        false => screen::say("THE PROOF DOES NOT HOLD. Please report what stands above."),
    }
    Ok(i32::from(!holds))
}

struct Demo {
    options: Options,
    rest: Rest,
    fleet: Fleet,
    tails: [Tail; 2],
    rows: Rows,
    counts: Counts,
    screen: Screen,
    usage: Usage,
    began: Instant,
}

impl Demo {
    /// Makes stream and rules, then lets the fleet begin.
    fn new(host: &Host, options: Options) -> Result<Demo, String> {
        let rest = Rest::new(host.rest);
        rest.set_up(host.broker, &host.results)?;
        let fleet = Fleet::start(host.broker, &options)?;
        let screen = Screen::new();
        screen.intro(host, &options);
        Ok(Demo {
            rest,
            tails: RULES.map(|rule| Tail::new(&host.results, rule)),
            rows: Rows::default(),
            counts: Counts::new(options.devices),
            usage: Usage::new(fleet.thread()),
            screen,
            fleet,
            options,
            began: Instant::now(),
        })
    }

    /// Until someone stops it; then the proof.
    fn play(&mut self, stop: &Receiver<()>) -> Result<bool, String> {
        let mut next_frame = self.began + Duration::from_secs(1);
        let end = self.options.seconds.map(|s| self.began + Duration::from_secs(s));
        let mut before: Option<Frame> = None;
        let mut more = false;
        while let Err(RecvTimeoutError::Timeout) =
            stop.recv_timeout(if more { Duration::ZERO } else { LOOK })
        {
            more = self.look()?;
            self.fleet.check()?;
            let now = Instant::now();
            if now >= next_frame {
                let frame = self.frame()?;
                self.screen.show(&frame, before.as_ref(), &self.options, &self.tails);
                before = Some(frame);
                next_frame = (next_frame + Duration::from_secs(1)).max(Instant::now());
            }
            if end.is_some_and(|end| now >= end) {
                break;
            }
        }
        self.screen.close();
        self.finish()
    }

    fn frame(&mut self) -> Result<Frame, String> {
        // what came out is asked for first, so that it is never more than what went in
        let rules = self.statuses()?;
        Ok(Frame {
            at: self.began.elapsed(),
            sent: self.fleet.sent(),
            rules,
            usage: self.usage.read(),
        })
    }

    fn statuses(&self) -> Result<[Status; 2], String> {
        Ok([self.rest.status(RULES[0])?, self.rest.status(RULES[1])?])
    }

    /// Reads what the rules have written since. True: there may be more.
    fn look(&mut self) -> Result<bool, String> {
        let [hot, by_device] = &mut self.tails;
        let more = hot.read(|line| self.rows.take(line))?;
        Ok(by_device.read(|line| self.counts.take(line))? || more)
    }

    /// The fleet ends, results arrive, rules stop, and everything is added up.
    fn finish(&mut self) -> Result<bool, String> {
        screen::say("Stopping: the fleet ends, and the last window may close.");
        let sent = self.fleet.finish()?;
        self.drain(sent)?;
        RULES.iter().try_for_each(|rule| self.rest.stop(rule))?;
        while self.look()? {}
        let [hot, by_device] = &mut self.tails;
        hot.end(|line| self.rows.take(line));
        by_device.end(|line| self.counts.take(line));
        let received = self.statuses()?.map(|s| s.received);
        Ok(proof::tell(sent, received, &mut self.rows, &self.counts))
    }

    /// Until all is there, or nothing comes any more.
    fn drain(&mut self, sent: u64) -> Result<(), String> {
        let (mut last, mut changed) = (None, Instant::now());
        loop {
            let more = self.look()?;
            let [hot, by_device] = &mut self.tails;
            hot.settle(|line| self.rows.take(line));
            by_device.settle(|line| self.counts.take(line));
            let received = self.statuses()?.map(|s| s.received);
            let done = self.rows.complete(sent) && self.counts.sum >= sent;
            if done && received.iter().all(|r| *r >= sent) {
                return Ok(());
            }
            let now = Some((received, self.rows.rows, self.counts.rows));
            if now != last {
                (last, changed) = (now, Instant::now());
            } else if changed.elapsed() > QUIET {
                return Ok(());
            }
            if !more {
                std::thread::sleep(LOOK);
            }
        }
    }
}
