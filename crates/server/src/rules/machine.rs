//! The life of one rule as a pure machine: facts and the time come in, actions go out.

use jiff::tz::TimeZone;

use super::definition::RuleDef;
use super::schedule::Schedule;
use crate::engine::RunEnd;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Stopped,
    Starting,
    Running,
    Stopping,
    StoppedByError,
    Waiting,
}

impl State {
    /// As clients read it.
    pub fn word(self) -> &'static str {
        match self {
            State::Stopped => "stopped",
            State::Starting => "starting",
            State::Running => "running",
            State::Stopping => "stopping",
            State::StoppedByError => "stopped by error",
            State::Waiting => "stopped: waiting for next schedule.",
        }
    }

    pub fn is_running(self) -> bool {
        matches!(self, State::Starting | State::Running | State::Stopping)
    }
}

/// Why a run is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    Manual,
    Schedule,
    Duration,
    Update,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// Someone wants it to run.
    Start,
    Stop(Why),
    Started,
    StartFailed(String),
    Halted(Why),
    Ended(RunEnd),
    /// Time went on; `patrol` where a full period of the patrol is over.
    Tick {
        patrol: bool,
    },
}

/// What is to be done; the result comes back as a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Todo {
    Run,
    Halt(Why),
    /// The definition is to say that the rule does not start by itself any more.
    Untrigger,
}

#[derive(Debug, Clone)]
pub struct Machine {
    pub state: State,
    pub message: String,
    /// ms since 1970, 0 = never.
    pub last_start: i64,
    pub last_stop: i64,
    pub next_start: i64,
    /// Whether the rule may be started by schedule or patrol.
    wanted: bool,
    schedule: Schedule,
    attempts: i64,
}

impl Machine {
    pub fn new(rule: &RuleDef) -> Machine {
        Machine {
            state: State::Stopped,
            message: String::new(),
            last_start: 0,
            last_stop: 0,
            next_start: 0,
            wanted: false,
            schedule: Schedule::of(&rule.options),
            attempts: rule.options.restart_attempts,
        }
    }

    /// A new definition for a rule that does not run.
    pub fn redefine(&mut self, rule: &RuleDef) {
        self.schedule = Schedule::of(&rule.options);
        self.attempts = rule.options.restart_attempts;
        self.next_start = 0;
    }

    pub fn warning(&self) -> Option<&str> {
        self.schedule.warning.as_deref()
    }

    pub fn step(&mut self, fact: Fact, now: i64, tz: &TimeZone) -> Vec<Todo> {
        match fact {
            Fact::Start => self.start(now, tz),
            Fact::Stop(why) => self.stop(why),
            Fact::Started => {
                self.state = State::Running;
                self.message.clear();
                self.last_start = now;
                self.next_start = 0;
                Vec::new()
            }
            Fact::StartFailed(text) => self.end(State::StoppedByError, text, now),
            Fact::Halted(why) => self.halted(why, now, tz),
            Fact::Ended(end) => self.ended(end, now),
            Fact::Tick { patrol } => self.tick(patrol, now, tz),
        }
    }

    /// When the next tick may change something.
    pub fn wake_at(&self, now: i64, tz: &TimeZone) -> Option<i64> {
        match self.state {
            State::Running => {
                let once = self
                    .schedule
                    .once()
                    .map(|d| self.last_start.saturating_add(d));
                once.into_iter()
                    .chain(self.schedule.next_end(now, tz))
                    .min()
            }
            State::Waiting if self.wanted => self.schedule.next_start(now, tz),
            _ => None,
        }
    }

    fn start(&mut self, now: i64, tz: &TimeZone) -> Vec<Todo> {
        if matches!(self.state, State::Starting | State::Running) {
            return Vec::new();
        }
        self.wanted = true;
        if self.schedule.returns() && !self.schedule.holds(now, tz) {
            self.wait(now, tz);
            return Vec::new();
        }
        self.run()
    }

    fn run(&mut self) -> Vec<Todo> {
        self.state = State::Starting;
        vec![Todo::Run]
    }

    fn wait(&mut self, now: i64, tz: &TimeZone) {
        self.state = State::Waiting;
        self.next_start = self.schedule.next_start(now, tz).unwrap_or(0);
    }

    fn stop(&mut self, why: Why) -> Vec<Todo> {
        if why == Why::Manual || why == Why::Update {
            self.wanted = false;
        }
        self.next_start = 0;
        match self.state {
            State::Running | State::Starting | State::Stopping => {
                self.state = State::Stopping;
                vec![Todo::Halt(why)]
            }
            State::Waiting | State::StoppedByError => {
                self.state = State::Stopped;
                self.message = message(why).into();
                Vec::new()
            }
            State::Stopped => Vec::new(),
        }
    }

    fn halted(&mut self, why: Why, now: i64, tz: &TimeZone) -> Vec<Todo> {
        self.end(State::Stopped, message(why).into(), now);
        match why {
            Why::Schedule => self.wait(now, tz),
            Why::Duration => self.wanted = false,
            Why::Manual | Why::Update => {}
        }
        Vec::new()
    }

    fn ended(&mut self, end: RunEnd, now: i64) -> Vec<Todo> {
        match end {
            RunEnd::Failed(text) => self.end(State::StoppedByError, text, now),
            RunEnd::Done(text) => {
                self.wanted = false;
                let message = if text.is_empty() {
                    "done".into()
                } else {
                    format!("done: {text}")
                };
                self.end(State::Stopped, message, now);
                vec![Todo::Untrigger]
            }
        }
    }

    fn end(&mut self, state: State, message: String, now: i64) -> Vec<Todo> {
        self.state = state;
        self.message = message;
        self.last_stop = now;
        Vec::new()
    }

    fn tick(&mut self, patrol: bool, now: i64, tz: &TimeZone) -> Vec<Todo> {
        match self.state {
            State::Running => {
                let over = |d: i64| now >= self.last_start.saturating_add(d);
                if self.schedule.once().is_some_and(over) {
                    return self.stop(Why::Duration);
                }
                if self.schedule.returns() && !self.schedule.holds(now, tz) {
                    return self.stop(Why::Schedule);
                }
                Vec::new()
            }
            State::Waiting if self.wanted && self.schedule.holds(now, tz) => self.run(),
            State::StoppedByError if patrol && self.wanted && self.attempts > 0 => self.run(),
            _ => Vec::new(),
        }
    }
}

fn message(why: Why) -> &'static str {
    match why {
        Why::Manual => "canceled manually",
        Why::Schedule => "schedule terminated",
        Why::Duration => "duration terminated",
        Why::Update => "stopped by update",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::definition::RuleOptions;

    const UTC: TimeZone = TimeZone::UTC;
    const PATROL: Fact = Fact::Tick { patrol: true };

    fn machine(options: &str) -> Machine {
        let text = format!(
            r#"{{"id":"r","sql":"SELECT 1","actions":[{{"nop":{{}}}}],"options":{options}}}"#
        );
        Machine::new(&RuleDef::parse(&text, None, &RuleOptions::default()).unwrap())
    }

    fn running(options: &str, now: i64) -> Machine {
        let mut m = machine(options);
        assert_eq!(m.step(Fact::Start, now, &UTC), [Todo::Run]);
        m.step(Fact::Started, now, &UTC);
        assert_eq!(m.state, State::Running);
        m
    }

    #[test]
    fn start_and_stop_are_idempotent() {
        let mut m = running("{}", 5);
        assert_eq!(m.step(Fact::Start, 6, &UTC), []);
        assert_eq!(
            m.step(Fact::Stop(Why::Manual), 7, &UTC),
            [Todo::Halt(Why::Manual)]
        );
        m.step(Fact::Halted(Why::Manual), 8, &UTC);
        assert_eq!(
            (m.state, m.message.as_str()),
            (State::Stopped, "canceled manually")
        );
        assert_eq!((m.last_start, m.last_stop), (5, 8));
        assert_eq!(m.step(Fact::Stop(Why::Manual), 9, &UTC), []);
        assert_eq!(m.step(PATROL, 10, &UTC), []);
    }

    #[test]
    fn the_end_of_input_is_done_and_untriggers() {
        let mut m = running("{}", 5);
        assert_eq!(
            m.step(Fact::Ended(RunEnd::Done("".into())), 9, &UTC),
            [Todo::Untrigger]
        );
        assert_eq!((m.state, m.message.as_str()), (State::Stopped, "done"));
    }

    #[test]
    fn an_error_keeps_its_cause_and_the_patrol_tries_again_when_told_so() {
        let mut m = running("{}", 5);
        m.step(Fact::Ended(RunEnd::Failed("why".into())), 9, &UTC);
        assert_eq!(
            (m.state, m.message.as_str()),
            (State::StoppedByError, "why")
        );
        assert_eq!(m.step(PATROL, 20, &UTC), []);
        let mut m = running(r#"{"restartStrategy":{"attempts":2}}"#, 5);
        m.step(Fact::Ended(RunEnd::Failed("why".into())), 9, &UTC);
        assert_eq!(m.step(Fact::Tick { patrol: false }, 10, &UTC), []);
        assert_eq!(m.step(PATROL, 20, &UTC), [Todo::Run]);
        m.step(Fact::StartFailed("again".into()), 21, &UTC);
        assert_eq!(m.step(PATROL, 30, &UTC), [Todo::Run]);
        m.step(Fact::Started, 31, &UTC);
        assert_eq!((m.state, m.message.as_str()), (State::Running, ""));
    }

    #[test]
    fn a_duration_ends_it_for_good() {
        let mut m = running(r#"{"duration":"2s"}"#, 1000);
        assert_eq!(m.wake_at(1000, &UTC), Some(3000));
        assert_eq!(m.step(PATROL, 2999, &UTC), []);
        assert_eq!(m.step(PATROL, 3000, &UTC), [Todo::Halt(Why::Duration)]);
        m.step(Fact::Halted(Why::Duration), 3001, &UTC);
        assert_eq!(
            (m.state, m.message.as_str()),
            (State::Stopped, "duration terminated")
        );
        assert_eq!(m.step(PATROL, 9000, &UTC), []);
    }

    #[test]
    fn a_schedule_waits_runs_and_waits_again() {
        let hour = 3_600_000;
        let mut m = machine(r#"{"cron":"0 * * * *","duration":"10m"}"#);
        assert_eq!(m.step(Fact::Start, hour / 2, &UTC), []);
        assert_eq!((m.state, m.next_start), (State::Waiting, hour));
        assert_eq!(m.wake_at(hour / 2, &UTC), Some(hour));
        assert_eq!(
            m.step(Fact::Tick { patrol: false }, hour, &UTC),
            [Todo::Run]
        );
        m.step(Fact::Started, hour, &UTC);
        assert_eq!(m.wake_at(hour, &UTC), Some(hour + 600_000));
        let over = hour + 600_000;
        assert_eq!(m.step(PATROL, over, &UTC), [Todo::Halt(Why::Schedule)]);
        m.step(Fact::Halted(Why::Schedule), over, &UTC);
        assert_eq!(
            (m.state, m.message.as_str()),
            (State::Waiting, "schedule terminated")
        );
        assert_eq!(m.next_start, 2 * hour);
        m.step(Fact::Stop(Why::Manual), over + 1, &UTC);
        assert_eq!(m.step(PATROL, 2 * hour, &UTC), []);
        assert_eq!((m.state, m.next_start), (State::Stopped, 0));
    }
}
