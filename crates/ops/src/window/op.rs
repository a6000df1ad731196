//! The operator of all windows but state windows: asks the assigner, feeds the hold.

use rekuiper_plan::physical::WindowPlan;
use rekuiper_value::Value;
use rekuiper_value::batch::Stamps;

use super::assign::{Assign, Emit};
use super::hold::{Hold, RunTimes};
use crate::filter::Condition;
use crate::{Chunk, Next, Op, OpCx};

/// Empty windows that are sent one after the other; what a longer gap would make besides is left
/// out, so that one row from the far future does not occupy the rule for ever.
const EMPTY_IN_A_ROW: usize = 10_000;

/// See the module's doc.
pub struct WindowOp<H> {
    assign: Box<dyn Assign>,
    hold: H,
    filter: Option<Condition>,
    triggers: Option<Trigger>,
    event: bool,
    /// Never runs back.
    clock: i64,
    times: Vec<i64>,
}

/// OVER(WHEN …), which may ask how often it held before.
struct Trigger {
    when: Condition,
    hits: i64,
    last: i64,
}

impl<H: Hold> WindowOp<H> {
    pub fn new(plan: WindowPlan, assign: Box<dyn Assign>, hold: H) -> Self {
        let triggers =
            plan.trigger_when.map(|e| Trigger { when: Condition::new(e), hits: 0, last: 0 });
        WindowOp {
            assign,
            hold,
            filter: plan.filter.map(Condition::new),
            triggers,
            event: plan.event_time,
            clock: i64::MIN,
            times: Vec::new(),
        }
    }

    fn emit(&mut self, emit: Emit, ocx: &mut OpCx<'_, '_>, next: &mut Next<'_>) {
        self.hold.emit(emit.span, emit.times, ocx, next);
        self.hold.keep(emit.stay);
    }

    /// Lets everything out that is complete at `clock`.
    fn settle(&mut self, clock: i64, row: bool, ocx: &mut OpCx<'_, '_>, next: &mut Next<'_>) {
        let mut empty = 0;
        while let Some(emit) = self.assign.due(clock, row, ocx.cx.zone) {
            empty = if self.hold.held() == 0 { empty + 1 } else { 0 };
            self.emit(emit, ocx, next);
            if empty >= EMPTY_IN_A_ROW {
                self.assign.skip_to(clock);
            }
        }
    }

    /// Times of the rows as the window counts them, and whether they are all the same.
    fn read_times(&mut self, chunk: &Chunk<'_>) -> bool {
        if let Stamps::Same(at) = chunk.stamps {
            self.times.clear();
            self.clock = self.clock.max(*at);
            return true;
        }
        let mut clock = self.clock;
        self.times.clear();
        self.times.extend(chunk.sel.iter().map(|row| {
            clock = clock.max(chunk.stamps.get(*row as usize));
            clock
        }));
        self.clock = clock;
        false
    }

    fn run_in(&mut self, chunk: &Chunk<'_>, ocx: &mut OpCx<'_, '_>, next: &mut Next<'_>) {
        let same = self.read_times(chunk);
        let clock = self.clock;
        let rows = chunk.sel.len();
        let mut at = 0;
        while at < rows {
            let first = if same { clock } else { self.times[at] };
            self.settle(first, true, ocx, next);
            let room = self.assign.room();
            self.hold.before(&room);
            let most = rows.min(at.saturating_add(room.rows.max(1)));
            let (to, last) = match same {
                true => (most, clock),
                false => {
                    let fits = |t: &&i64| **t < room.until;
                    let n = self.times[at..most].iter().take_while(fits).count().max(1);
                    (at + n, self.times[at + n - 1])
                }
            };
            let times = match same {
                true => RunTimes::Same(clock),
                false => RunTimes::Each(&self.times[at..to]),
            };
            self.hold.add(chunk, &chunk.sel[at..to], times, ocx);
            self.assign.admit(first, last, to - at);
            let triggers = self.holds(chunk, chunk.sel[to - 1], ocx);
            while let Some(emit) = self.assign.after(last, triggers) {
                self.emit(emit, ocx, next);
            }
            at = to;
        }
    }

    /// Whether a row triggers. An error or null does not.
    fn holds(&mut self, chunk: &Chunk<'_>, row: u32, ocx: &mut OpCx<'_, '_>) -> bool {
        let Some(trigger) = &mut self.triggers else { return true };
        let counters = ocx.cx.row;
        ocx.cx.row.hit_count = trigger.hits;
        ocx.cx.row.hit_time = trigger.last;
        let mut sel = vec![row];
        let mut one = Chunk {
            frame: chunk.frame.clone(),
            stamps: chunk.stamps,
            sel: &mut sel,
            emission: chunk.emission,
            source: chunk.source,
        };
        trigger.when.select(&mut one, ocx, &mut |_, _| {});
        ocx.cx.row = counters;
        if sel.is_empty() {
            return false;
        }
        trigger.hits += 1;
        trigger.last = ocx.cx.now_ms;
        true
    }
}

impl<H: Hold> Op for WindowOp<H> {
    fn push(&mut self, mut chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        if let Some(filter) = &self.filter {
            let mut errors = Vec::new();
            filter.select(&mut chunk, ocx, &mut |_, e| errors.push(e));
            errors.iter().for_each(|e| next.error(e, ocx));
        }
        if chunk.sel.is_empty() {
            return;
        }
        self.run_in(&chunk, ocx, &mut next);
        let horizon = self.assign.horizon(self.clock);
        if horizon > i64::MIN {
            self.hold.keep(super::assign::Stay::From(horizon));
        }
    }

    fn tick(&mut self, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        if !self.event {
            self.clock = self.clock.max(ocx.cx.now_ms);
            self.settle(self.clock, false, ocx, &mut next);
        }
    }

    fn deadline(&self) -> Option<i64> {
        if self.event { None } else { self.assign.deadline() }
    }

    fn watermark(&mut self, at: i64, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        if self.event {
            self.clock = self.clock.max(at);
            self.settle(at, false, ocx, &mut next);
        }
        next.watermark(at, ocx);
    }

    fn held(&self) -> usize {
        self.hold.held()
    }

    fn save(&self) -> Value {
        let trigger = match &self.triggers {
            Some(t) => Value::array(vec![Value::Int(t.hits), Value::Int(t.last)]),
            None => Value::Null,
        };
        Value::array(vec![self.assign.save(), self.hold.save(), Value::Int(self.clock), trigger])
    }

    fn load(&mut self, state: &Value) {
        let Some([assign, hold, clock, trigger]) = state.as_array().map(|a| a.as_slice()) else {
            return;
        };
        self.assign.load(assign);
        self.hold.load(hold);
        if let Value::Int(clock) = clock {
            self.clock = *clock;
        }
        if let (Some(t), [Some(hits), Some(last)]) =
            (&mut self.triggers, &super::assign::numbers(trigger)[..])
        {
            (t.hits, t.last) = (*hits, *last);
        }
    }
}
