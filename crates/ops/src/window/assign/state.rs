//! STATEWINDOW: opened and closed by what rows say.

/// What becomes of a row, given whether the begin and end conditions hold for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The row is in no window.
    Pass,
    Keep,
    /// The row is the last of its window.
    KeepAndEmit,
    /// What is held goes out; the row opens the next window.
    EmitAndKeep,
}

/// The state of one partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    pub open: bool,
}

impl State {
    /// `end`: `None` for windows of one condition, whose every hit closes and opens.
    pub fn step(&mut self, begin: bool, end: Option<bool>) -> Step {
        match (self.open, end) {
            (false, _) => {
                self.open = begin;
                if begin { Step::Keep } else { Step::Pass }
            }
            (true, Some(true)) => {
                self.open = false;
                Step::KeepAndEmit
            }
            (true, None) if begin => Step::EmitAndKeep,
            (true, _) => Step::Keep,
        }
    }
}
