//! The order of the steps of a rule, and where conditions may be tested earlier.

use rekuiper_expr::Expr;
use rekuiper_sql::{JoinKind, Select};
use rekuiper_value::{Field, Str};

use crate::catalog::Catalog;
use crate::compile::{Place, Planner};
use crate::error::Result;
use crate::explain::{self, ExplainNode};
use crate::join::{Joins, all_of, conjuncts};
use crate::physical::{
    AggregatePlan, OutItem, OutNulls, ProjectionPlan, RulePlan, SortKey, Stage, StagePlan,
    WindowPlan, WindowShape,
};
use crate::{RuleOptions, incremental, number, options};

/// A rule that can be run.
pub struct Planned {
    pub plan: RulePlan,
    pub explain: ExplainNode,
    /// Names of the result's columns, as far as they are known before there are rows.
    pub schema: Vec<Str>,
    /// Streams and tables that it reads, in the order of FROM and JOIN.
    pub sources: Vec<String>,
}

/// The parts of a statement, compiled.
pub(crate) struct Parts {
    pub window: Option<WindowPlan>,
    joins: Joins,
    pub where_: Option<Expr>,
    pub dimensions: Vec<Expr>,
    pub items: Vec<OutItem>,
    /// Results are of groups, not of rows.
    pub grouped: bool,
    having: Option<Expr>,
    pub order: Vec<SortKey>,
    limit: Option<usize>,
}

/// Plans a statement.
pub fn plan_rule(select: &Select, catalog: &dyn Catalog, options: &RuleOptions) -> Result<Planned> {
    plan(select, catalog, options, Mode::default())
}

/// What graph rules do otherwise than statements.
#[derive(Clone, Copy, Default)]
pub(crate) struct Mode {
    /// The rows of all sources flow together as they are, joined with nothing.
    pub merge: bool,
    /// HAVING may hold columns and calls of the group's first row.
    pub any_having: bool,
}

pub(crate) fn plan(
    select: &Select,
    catalog: &dyn Catalog,
    options: &RuleOptions,
    mode: Mode,
) -> Result<Planned> {
    let mut planner = Planner::new(select, catalog)?;
    options::check(options, &planner.scope, planner.has_window)?;
    let parts = parts(&mut planner, options, mode)?;
    let (stages, items) = stages(&mut planner, parts, options);
    let sources = planner
        .scope
        .sources
        .iter()
        .map(|s| s.name.to_string())
        .collect();
    let mut schema: Vec<Str> = items.iter().filter_map(OutItem::name).cloned().collect();
    // columns with an alias come first, as eKuiper numbers them
    schema.sort_by_key(|name| !select.items.iter().any(|i| i.alias.as_ref() == Some(name)));
    let (plan, names) = number::plan(planner, stages, ProjectionPlan { items }, options);
    let explain = explain::tree(&plan, &names);
    Ok(Planned {
        plan,
        explain,
        schema,
        sources,
    })
}

fn parts(planner: &mut Planner<'_>, options: &RuleOptions, mode: Mode) -> Result<Parts> {
    let select = planner.select;
    let window = planner.window(options.is_event_time, mode.merge)?;
    let joins = if mode.merge {
        Joins::default()
    } else {
        planner.joins()?
    };
    let where_ = select
        .where_
        .as_ref()
        .map(|e| planner.compile(e, Place::Where))
        .transpose()?;
    let mut dimensions = Vec::new();
    for dim in select.dimensions() {
        dimensions.push(planner.compile(dim, Place::Row("GROUP BY"))?);
    }
    let mut items = planner.items(options.send_nil_field)?;
    let grouped = !dimensions.is_empty() || !planner.aggregates.is_empty();
    let mut having = None;
    if let Some(e) = &select.having {
        if !mode.any_having {
            planner.check_having(e)?;
        }
        having = Some(planner.compile(e, Place::Having)?);
    }
    let order = planner.sort_keys(&select.order_by, Place::Order)?;
    if options.send_meta_to_sink {
        let expr = Expr::Col(planner.scope.field(0, Field::MetaWhole)?);
        items.push(OutItem::Field {
            name: "__meta".into(),
            expr,
            nulls: OutNulls::LeaveOut,
        });
    }
    let limit = select
        .limit
        .map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    Ok(Parts {
        window,
        joins,
        where_,
        dimensions,
        items,
        grouped,
        having,
        order,
        limit,
    })
}

/// Stages with their names.
#[derive(Default)]
struct Steps(Vec<StagePlan>);

impl Steps {
    fn push(&mut self, node: &str, stage: Stage) {
        self.0.push(StagePlan {
            node: node.into(),
            stage,
        });
    }

    fn filter(&mut self, condition: Option<Expr>) {
        if let Some(condition) = condition {
            self.push("filter", Stage::Filter(condition));
        }
    }
}

/// WHERE may be tested before the window where that cannot change what the windows are: not where
/// rows are counted, trigger windows, or where a window that WHERE empties must not be sent.
fn where_before_window(planner: &Planner<'_>, parts: &Parts) -> bool {
    let shape = parts.window.as_ref().map(|w| (&w.shape, w.event_time));
    planner.scope.sources.len() == 1
        && planner.where_aggregates.is_empty()
        && match shape {
            None => true,
            Some((WindowShape::Tumbling { .. }, false))
            | Some((WindowShape::Hopping { .. }, false))
            | Some((WindowShape::Session { .. }, false)) => true,
            Some(_) => false,
        }
}

/// WHERE in two: what can be tested before rows are looked up, and the rest.
fn split_for_lookup(planner: &Planner<'_>, parts: &mut Parts) -> (Option<Expr>, Option<Expr>) {
    let rows_alone = parts.window.is_none()
        && parts.joins.joins.is_empty()
        && planner.where_aggregates.is_empty()
        && parts
            .joins
            .lookups
            .iter()
            .all(|l| matches!(l.kind, JoinKind::Inner | JoinKind::Left));
    let Some(condition) = parts.where_.take() else {
        return (None, None);
    };
    if !rows_alone {
        return (None, Some(condition));
    }
    let mut all = Vec::new();
    conjuncts(condition, &mut all);
    let (early, late): (Vec<Expr>, Vec<Expr>) = all.into_iter().partition(|e| {
        !parts
            .joins
            .lookups
            .iter()
            .any(|l| planner.reads(e, l.right))
    });
    (all_of(early), all_of(late))
}

fn stages(
    planner: &mut Planner<'_>,
    mut parts: Parts,
    options: &RuleOptions,
) -> (Vec<StagePlan>, Vec<OutItem>) {
    let mut steps = Steps::default();
    if options.is_event_time {
        let late_tolerance_ms = options.late_tolerance_ms;
        steps.push("watermark", Stage::Watermark { late_tolerance_ms });
    }
    let early = std::mem::take(&mut planner.early);
    if !early.is_empty() {
        steps.push("analytic", Stage::Analytic(early));
    }
    let (first, rest) = if where_before_window(planner, &parts) {
        (parts.where_.take(), None)
    } else {
        split_for_lookup(planner, &mut parts)
    };
    steps.filter(first);
    let grouped = parts.grouped;
    let several = parts.window.is_some() || planner.scope.sources.len() > 1;
    let shape = incremental::Shape {
        where_later: rest.is_some(),
        options,
    };
    let tail = tail(planner, &mut parts, several);
    let items = std::mem::take(&mut parts.items);
    if let Some(stage) = incremental::stage(planner, &mut parts, &shape) {
        steps.push("window", stage);
        steps.0.extend(tail);
        return (steps.0, items);
    }
    if let Some(window) = parts.window.take() {
        steps.push("window", Stage::Window(window));
    }
    let joins = std::mem::take(&mut parts.joins);
    if !joins.joins.is_empty() {
        steps.push("join", Stage::Join(joins.joins));
    }
    for lookup in joins.lookups {
        let table = planner.scope.sources[lookup.right].name.clone();
        steps.push(&table, Stage::Lookup(lookup));
    }
    let where_aggregates = std::mem::take(&mut planner.where_aggregates);
    if !where_aggregates.is_empty() {
        steps.push("aggfunc", Stage::AggregateColumns(where_aggregates));
    }
    steps.filter(rest);
    let calls = std::mem::take(&mut planner.aggregates);
    if grouped {
        steps.push(
            "aggregate",
            Stage::Aggregate(aggregate(planner, &mut parts, calls)),
        );
    } else if !calls.is_empty() {
        steps.push("aggfunc", Stage::AggregateColumns(calls));
    }
    steps.0.extend(tail);
    (steps.0, items)
}

/// The aggregation of a window that keeps its rows.
fn aggregate(
    planner: &Planner<'_>,
    parts: &mut Parts,
    calls: Vec<crate::physical::AggregateCall>,
) -> AggregatePlan {
    let dimensions = std::mem::take(&mut parts.dimensions);
    let sort_rows = if dimensions.is_empty() {
        sorts_of_rows(planner, parts)
    } else {
        Vec::new()
    };
    AggregatePlan {
        row_when_empty: dimensions.is_empty(),
        dimensions,
        calls,
        sort_rows,
    }
}

/// The keys of ORDER BY that say something about single rows.
pub(crate) fn sorts_of_rows(planner: &Planner<'_>, parts: &Parts) -> Vec<SortKey> {
    use crate::compile::Stage as When;
    parts
        .order
        .iter()
        .filter(|k| planner.needs(&k.expr) <= When::Early && !matches!(k.expr, Expr::Lit(_)))
        .map(|k| SortKey {
            expr: k.expr.clone(),
            desc: k.desc,
        })
        .collect()
}

/// What comes after grouping.
fn tail(planner: &mut Planner<'_>, parts: &mut Parts, several: bool) -> Vec<StagePlan> {
    let mut steps = Steps::default();
    let mut late = Some(std::mem::take(&mut planner.late)).filter(|l| !l.is_empty());
    let mut analytic = |steps: &mut Steps, now: bool| {
        if now && let Some(calls) = late.take() {
            steps.push("analytic", Stage::Analytic(calls));
        }
    };
    analytic(&mut steps, planner.late_in_having);
    if let Some(having) = parts.having.take() {
        steps.push("having", Stage::Having(having));
    }
    for numbers in std::mem::take(&mut planner.row_numbers) {
        steps.push("window_func", Stage::RowNumber(numbers));
    }
    analytic(&mut steps, planner.late_in_order);
    // without a window every result is a row of its own; one row of a whole window is in order
    let sorted = several && !(parts.grouped && parts.dimensions.is_empty());
    if sorted && !parts.order.is_empty() {
        let keys = |k: &SortKey| SortKey {
            expr: k.expr.clone(),
            desc: k.desc,
        };
        steps.push(
            "order",
            Stage::Order(parts.order.iter().map(keys).collect()),
        );
    }
    match (planner.unnest.take(), parts.limit) {
        (Some(mut unnest), limit) => {
            analytic(&mut steps, true);
            unnest.limit = limit;
            steps.push("project_set", Stage::Unnest(unnest));
        }
        (None, Some(limit)) if several || limit == 0 => steps.push("limit", Stage::Limit(limit)),
        _ => {}
    }
    analytic(&mut steps, true);
    if let Some(dedup) = planner.dedup.take() {
        steps.push("dedup_trigger", Stage::DedupTrigger(dedup));
    }
    steps.0
}
