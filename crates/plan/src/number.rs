//! Columns in their final order: those of the sources first, then computed ones as the stages make
//! them. What rows must keep in a window comes out here too.

use std::collections::BTreeSet;

use crate::RuleOptions;
use crate::compile::Planner;
use crate::physical::{ProjectionPlan, RulePlan, SourcePlan, Stage, StagePlan};
use crate::scope::ColInfo;
use crate::visit::Exprs;

/// The finished plan, and the name of every column.
pub(crate) fn plan(
    planner: Planner<'_>,
    mut stages: Vec<StagePlan>,
    mut projection: ProjectionPlan,
    options: &RuleOptions,
) -> (RulePlan, Vec<String>) {
    let old = &planner.scope.cols;
    let mut to: Vec<u16> = vec![u16::MAX; old.len()];
    let mut names: Vec<String> = Vec::with_capacity(old.len());
    let mut next = |col: u16, names: &mut Vec<String>| {
        if let Some(place) = to.get_mut(usize::from(col)).filter(|p| **p == u16::MAX) {
            *place = names.len() as u16;
            names.push(planner.scope.name_of(col));
        }
    };
    let mut sources = Vec::with_capacity(planner.scope.sources.len());
    for (at, source) in planner.scope.sources.iter().enumerate() {
        let first_col = names.len();
        let mut fields = Vec::new();
        for (col, info) in old.iter().enumerate() {
            if let ColInfo::Source { source, field } = info
                && *source == at
            {
                fields.push(field.clone());
                next(col as u16, &mut names);
            }
        }
        let (stream, kind) = (source.name.clone(), source.kind.clone());
        sources.push(SourcePlan {
            stream,
            kind,
            first_col,
            fields,
        });
    }
    let source_cols = names.len();
    for step in &mut stages {
        step.stage.results(&mut |col| next(*col, &mut names));
    }
    let number = |col: u16| to.get(usize::from(col)).copied().unwrap_or(col);
    for step in &mut stages {
        // the result of dedup_trigger stands among its expressions
        if !matches!(step.stage, Stage::DedupTrigger(_)) {
            step.stage.results(&mut |col| *col = number(*col));
        }
        step.stage.exprs(&mut |e| e.renumber(&number));
    }
    for item in &mut projection.items {
        item.exprs(&mut |e| e.renumber(&number));
    }
    keep(&mut stages, &mut projection);
    let plan = RulePlan {
        sources,
        stages,
        projection,
        source_cols,
        cols: names.len(),
        uses_row_context: planner.uses_row_context,
        event_time: options.is_event_time,
        late_tolerance_ms: options.late_tolerance_ms,
    };
    (plan, names)
}

/// Tells the window which columns are read after it.
fn keep(stages: &mut [StagePlan], projection: &mut ProjectionPlan) {
    let at = stages
        .iter()
        .position(|s| matches!(s.stage, Stage::Window(_) | Stage::WindowAggregate(..)));
    let Some((step, later)) = at.and_then(|at| stages[at..].split_first_mut()) else {
        return;
    };
    let (mut read, mut made) = (BTreeSet::new(), BTreeSet::new());
    let mut note = |e: &mut rekuiper_expr::Expr| {
        e.each_col(&mut |col| {
            read.insert(col);
        });
    };
    for step in later.iter_mut() {
        step.stage.exprs(&mut note);
        step.stage.results(&mut |col| {
            made.insert(*col);
        });
    }
    projection
        .items
        .iter_mut()
        .for_each(|item| item.exprs(&mut note));
    step.stage.results(&mut |col| {
        made.insert(*col);
    });
    if let Stage::Window(window) | Stage::WindowAggregate(window, _) = &mut step.stage {
        window.keep = read.difference(&made).copied().collect();
    }
}
