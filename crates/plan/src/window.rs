//! The window of GROUP BY.

use rekuiper_sql::{ExprKind, Span, TimeUnit, Window, WindowKind};

use crate::compile::{Place, Planner};
use crate::error::{PlanError, Result};
use crate::physical::{WindowPlan, WindowShape};

/// Longest window: far beyond any clock, and still added up without overflow.
const LONGEST_MS: i64 = i64::MAX / 16;

impl Planner<'_> {
    /// `merged`: several streams flow together without a join.
    pub fn window(&mut self, event_time: bool, merged: bool) -> Result<Option<WindowPlan>> {
        let mut windows = self.select.group_by.iter().filter_map(|d| match &d.kind {
            ExprKind::Window(w) => Some((w.as_ref(), d.span)),
            _ => None,
        });
        let Some((window, span)) = windows.next() else {
            return self.without_window(merged);
        };
        if let Some((_, second)) = windows.next() {
            return Err(PlanError::at(second, "a rule has one window only"));
        }
        if !self.scope.sources.iter().any(|s| s.is_stream()) {
            return Err(
                PlanError::at(span, "a window over tables alone never closes")
                    .expected("a stream in FROM or JOIN"),
            );
        }
        if event_time && window.kind == WindowKind::Count {
            return Err(PlanError::at(
                span,
                "countwindow does not go with option isEventTime: it counts rows as they come",
            ));
        }
        let (shape, unit) = self.shape(window, span)?;
        let row = |clause| Place::Row(clause);
        let filter = window
            .filter
            .as_ref()
            .map(|e| self.compile(e, row("FILTER")))
            .transpose()?;
        let trigger = window.over_when.as_ref();
        let trigger_when = trigger
            .map(|e| self.compile(e, row("OVER (WHEN ...)")))
            .transpose()?;
        let mut partition = Vec::with_capacity(window.over_partition.len());
        for e in &window.over_partition {
            partition.push(self.compile(e, row("OVER (PARTITION BY ...)"))?);
        }
        Ok(Some(WindowPlan {
            shape,
            unit,
            filter,
            trigger_when: trigger_when.filter(|_| window.kind == WindowKind::Sliding),
            partition: if window.kind == WindowKind::State {
                partition
            } else {
                Vec::new()
            },
            event_time,
            keep: Vec::new(),
        }))
    }

    fn without_window(&self, merged: bool) -> Result<Option<WindowPlan>> {
        if let Some(dim) = self.select.group_by.first() {
            return Err(PlanError::at(
                dim.span,
                "GROUP BY needs a window: groups must end somewhen",
            )
            .expected("a window among its items, such as tumblingwindow(ss, 10)"));
        }
        let streams: Vec<_> = self
            .scope
            .sources
            .iter()
            .filter(|s| s.is_stream())
            .collect();
        if let [_, second, ..] = streams[..]
            && streams.len() == self.scope.sources.len()
            && !merged
        {
            return Err(PlanError::at(
                second.span,
                "a join of streams needs a window: rows of both are paired within it",
            )
            .expected("GROUP BY with a window, such as tumblingwindow(ss, 10)"));
        }
        Ok(None)
    }

    fn shape(&mut self, window: &Window, span: Span) -> Result<(WindowShape, TimeUnit)> {
        let unit = match window.args.first().map(|a| &a.kind) {
            Some(ExprKind::TimeUnit(unit)) => *unit,
            _ => TimeUnit::Millisecond,
        };
        let number = |at: usize| match window.args.get(at).map(|a| &a.kind) {
            Some(ExprKind::Int(i)) => Ok(*i),
            _ => Err(PlanError::at(
                span,
                format!("{} lacks a number", window.kind.name()),
            )),
        };
        let length = |at: usize| {
            let ms = number(at)?
                .checked_mul(unit.millis())
                .filter(|ms| (0..LONGEST_MS).contains(ms));
            ms.ok_or_else(|| PlanError::at(span, "a length of this window is out of range"))
        };
        let positive = |ms: i64| match ms {
            1.. => Ok(ms),
            _ => Err(PlanError::at(
                span,
                "the length of a window must be above 0",
            )),
        };
        let count = |at: usize| {
            usize::try_from(number(at)?)
                .ok()
                .filter(|n| *n > 0)
                .ok_or_else(|| PlanError::at(span, "a count window needs counts above 0"))
        };
        let shape = match window.kind {
            WindowKind::Tumbling => WindowShape::Tumbling {
                length: positive(length(1)?)?,
            },
            WindowKind::Hopping => WindowShape::Hopping {
                length: positive(length(1)?)?,
                hop: positive(length(2)?)?,
            },
            WindowKind::Sliding => {
                let delay = if window.args.len() > 2 { length(2)? } else { 0 };
                WindowShape::Sliding {
                    length: positive(length(1)?)?,
                    delay,
                }
            }
            WindowKind::Session => WindowShape::Session {
                length: positive(length(1)?)?,
                timeout: positive(length(2)?)?,
            },
            WindowKind::Count => {
                let n = count(0)?;
                let every = if window.args.len() > 1 { count(1)? } else { n };
                if every > n {
                    return Err(PlanError::at(span, "a count window cannot skip rows")
                        .expected("an interval of at most the count"));
                }
                WindowShape::Count { count: n, every }
            }
            WindowKind::State => self.state_shape(window, span)?,
        };
        Ok((shape, unit))
    }

    fn state_shape(&mut self, window: &Window, span: Span) -> Result<WindowShape> {
        let place = Place::Row("statewindow");
        let mut conditions = Vec::with_capacity(2);
        for arg in &window.args {
            conditions.push(self.compile(arg, place)?);
        }
        let mut conditions = conditions.into_iter();
        let begin = conditions
            .next()
            .ok_or_else(|| PlanError::at(span, "statewindow needs a condition"))?;
        let end = conditions.next();
        Ok(WindowShape::State { begin, end })
    }
}
