//! The physical plan: what the operators are built from. Names are gone; expressions are compiled.
//!
//! **Columns.** All expressions of a rule use one numbering. The columns of the first source come
//! first, then those of the second, and so on; then the results of analytic functions, then
//! aggregates, then window functions, in the order of [`RulePlan::stages`]. A row that comes from
//! one source has `Missing` in the columns of the others, and in those not computed yet.

use rekuiper_expr::{Expr, Part};
use rekuiper_functions::FunctionDef;
pub use rekuiper_sql::ast::{JoinKind, TimeUnit};
use rekuiper_value::{Field, Str, Value};

/// A rule, ready to be built into operators.
pub struct RulePlan {
    /// In the order of FROM and JOIN.
    pub sources: Vec<SourcePlan>,
    /// In the order in which rows pass them.
    pub stages: Vec<StagePlan>,
    pub projection: ProjectionPlan,
    /// Columns of all sources together: where computed columns begin.
    pub source_cols: usize,
    /// All columns.
    pub cols: usize,
    /// Whether some expression asks for the row's own times or hit counters (`Cx::row`).
    pub uses_row_context: bool,
    /// Event time instead of arrival.
    pub event_time: bool,
    pub late_tolerance_ms: i64,
}

/// One stream or table as this rule reads it.
pub struct SourcePlan {
    /// Name in the catalog.
    pub stream: Str,
    pub kind: SourceKind,
    /// First column of this source in the rule's numbering.
    pub first_col: usize,
    /// What is read of it; column `first_col + i` is `fields[i]`.
    pub fields: Vec<Field>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SourceKind {
    Stream,
    /// Its newest rows are joined with each stream row or window.
    ScanTable {
        retain: usize,
    },
    /// Asked row by row; never pushes.
    Lookup,
}

/// One operator with the name it has in metrics and topology (`filter`, `window`, …).
pub struct StagePlan {
    pub node: Str,
    pub stage: Stage,
}

pub enum Stage {
    /// Event time: holds rows back until the watermark passes them, drops late ones.
    Watermark {
        late_tolerance_ms: i64,
    },
    Filter(Expr),
    Analytic(Vec<AnalyticPlan>),
    Window(WindowPlan),
    /// Windows whose aggregates are kept per group instead of rows.
    WindowAggregate(WindowPlan, AggregatePlan),
    Join(Vec<JoinPlan>),
    Lookup(LookupPlan),
    /// Aggregates in WHERE: computed over the whole window, the result is a column of every row.
    AggregateColumns(Vec<AggregateCall>),
    Aggregate(AggregatePlan),
    Having(Expr),
    RowNumber(RowNumberPlan),
    Order(Vec<SortKey>),
    /// Most rows of one emission.
    Limit(usize),
    /// `unnest` in the select list: several results from one row.
    Unnest(UnnestPlan),
    /// dedup_trigger: start, end, now, seconds as a literal, and the column of the result.
    DedupTrigger(Vec<Expr>),
}

pub struct AnalyticPlan {
    pub def: &'static FunctionDef,
    /// As the function's file says it wants them.
    pub args: Vec<Expr>,
    pub partition: Vec<Expr>,
    pub when: Option<Expr>,
    /// Where the result goes.
    pub col: u16,
}

#[derive(Clone)]
pub struct WindowPlan {
    pub shape: WindowShape,
    pub unit: TimeUnit,
    /// FILTER(WHERE …): rows that fail never enter.
    pub filter: Option<Expr>,
    /// OVER(WHEN …) of sliding windows: only such rows trigger.
    pub trigger_when: Option<Expr>,
    /// OVER(PARTITION BY …) of state windows.
    pub partition: Vec<Expr>,
    pub event_time: bool,
    /// Columns that rows must keep while they wait, others are let go; where groups are kept
    /// instead, what is kept of each group's first row.
    pub keep: Vec<u16>,
}

/// Lengths in milliseconds; `units` are the lengths as written, for the alignment of first windows.
#[derive(Clone)]
pub enum WindowShape {
    Tumbling { length: i64 },
    Hopping { length: i64, hop: i64 },
    Sliding { length: i64, delay: i64 },
    Session { length: i64, timeout: i64 },
    Count { count: usize, every: usize },
    State { begin: Expr, end: Option<Expr> },
}

impl WindowShape {
    /// In how many open windows a row is at most, where that is the same for all rows and told by
    /// the clock or by counting.
    pub fn overlap(&self) -> Option<usize> {
        match *self {
            WindowShape::Tumbling { .. } | WindowShape::Session { .. } => Some(1),
            WindowShape::Hopping { length, hop } => {
                let hops = length.unsigned_abs().div_ceil(hop.max(1).unsigned_abs());
                usize::try_from(hops).ok()
            }
            WindowShape::Count { count, every } => Some(count.div_ceil(every.max(1))),
            WindowShape::Sliding { .. } | WindowShape::State { .. } => None,
        }
    }
}

pub struct JoinPlan {
    pub kind: JoinKind,
    /// Index in [`RulePlan::sources`] of the source that is joined on.
    pub right: usize,
    pub on: Option<Expr>,
    /// `left = right` pairs of ON that are joined by AND: (expression over earlier sources,
    /// expression over the right source). For hashing; `on` still holds everything.
    pub equal: Vec<(Expr, Expr)>,
}

pub struct LookupPlan {
    pub kind: JoinKind,
    pub right: usize,
    /// (column of the table, value expression over earlier columns)
    pub keys: Vec<(Str, Expr)>,
    /// Further conditions of ON, part of the match.
    pub on: Option<Expr>,
}

pub struct AggregateCall {
    pub def: &'static FunctionDef,
    pub args: Vec<Expr>,
    pub col: u16,
}

/// Results are one row a group. Source columns, and those of analytic functions, hold in it what
/// the group's first row holds, for the stages that read them.
pub struct AggregatePlan {
    /// GROUP BY without the window; empty: one group.
    pub dimensions: Vec<Expr>,
    pub calls: Vec<AggregateCall>,
    /// An emission without rows gives one row of empty aggregates (only without dimensions).
    pub row_when_empty: bool,
    /// ORDER BY of an ungrouped window sorts the rows before they are aggregated.
    pub sort_rows: Vec<SortKey>,
}

pub struct RowNumberPlan {
    pub col: u16,
    pub partition: Vec<Expr>,
    pub order: Vec<SortKey>,
}

pub struct SortKey {
    pub expr: Expr,
    pub desc: bool,
}

pub struct UnnestPlan {
    /// The array.
    pub expr: Expr,
    /// Where one element (or object) goes, to be spread by the projection.
    pub col: u16,
    pub limit: Option<usize>,
}

/// SELECT.
pub struct ProjectionPlan {
    pub items: Vec<OutItem>,
}

pub enum OutItem {
    Field {
        name: Str,
        expr: Expr,
        nulls: OutNulls,
    },
    /// `*`: the members of an object.
    Row(Box<[Part]>),
    /// An object-valued column whose members become columns (changed_cols, extract, unnest of
    /// objects); any other value goes to `name` (unnest of scalars). Wins over earlier items.
    Spread { name: Str, expr: Expr },
    /// As `Spread`, but an absent or null value adds nothing and any non-object is an error.
    Members(Expr),
    /// A literal result.
    Const { name: Str, value: Value },
}

/// What becomes of a null result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutNulls {
    /// A plain column: kept when the row has it as null, left out when missing.
    AsPresent,
    /// A computed or aliased one: left out.
    LeaveOut,
    /// sendNilField: null either way.
    Keep,
}

impl OutItem {
    /// The column's name, where it is known before there are rows.
    pub fn name(&self) -> Option<&Str> {
        match self {
            OutItem::Field { name, .. } | OutItem::Const { name, .. } => Some(name),
            OutItem::Row(_) | OutItem::Spread { .. } | OutItem::Members(_) => None,
        }
    }
}

impl StagePlan {
    /// The nodes that eKuiper shows for such a step in metrics and topology, in their order. What
    /// is one operator here may be two there: groups that a window keeps, tables that are lined up
    /// for a join; and some are none: LIMIT, aggregates over a whole window.
    pub fn node_words(&self, sources: &[SourcePlan]) -> Vec<Str> {
        let table = |at: usize| {
            sources
                .get(at)
                .is_some_and(|s| matches!(s.kind, SourceKind::ScanTable { .. }))
        };
        let own = self.node.clone();
        match &self.stage {
            Stage::Limit(_) => Vec::new(),
            Stage::Aggregate(a) if a.dimensions.is_empty() => Vec::new(),
            Stage::WindowAggregate(_, a) if !a.dimensions.is_empty() => {
                vec![own, Str::from("aggregate")]
            }
            Stage::Join(joins) if table(0) || joins.iter().any(|j| table(j.right)) => {
                vec![Str::from("join_aligner"), own]
            }
            _ => vec![own],
        }
    }
}
