//! From the syntax tree to compiled expressions: names become columns, functions that keep state
//! become columns of their own, what is wrong is refused.

mod aggregate;
mod alias;
mod analytic;
mod call;
mod expr;
mod fold;
mod meta;
mod rows;

use std::collections::HashMap;

use rekuiper_expr::{DEEP_EVERY, Deep, Expr};
use rekuiper_sql::{Select, Span};

use crate::catalog::Catalog;
use crate::error::{PlanError, Result};
use crate::physical::{AggregateCall, AnalyticPlan, RowNumberPlan, UnnestPlan};
use crate::scope::{ColInfo, Scope};

pub(crate) use aggregate::children;
pub(crate) use call::{ROW_CONTEXT, arg_kind};

/// Most nodes that references to aliases may add to a rule's expressions.
const ALIAS_BUDGET: usize = 500_000;

/// Where an expression stands: which functions it may hold, and when they are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Of one row, before anything is grouped; the word names the clause.
    Row(&'static str),
    /// ON of a join.
    On,
    /// WHERE: an aggregate is computed over the whole window.
    Where,
    /// Inside the arguments of an aggregate of this name.
    Inside(&'static str),
    /// The select list.
    Select,
    Having,
    Order,
}

impl Place {
    /// Aliases are compiled once for each of these.
    fn class(self) -> u8 {
        match self {
            Place::Row(_) | Place::On => 0,
            Place::Where => 1,
            Place::Inside(_) => 2,
            Place::Select | Place::Having | Place::Order => 3,
        }
    }

    pub fn words(self) -> String {
        match self {
            Place::Row(clause) => clause.to_owned(),
            Place::On => "ON".to_owned(),
            Place::Where => "WHERE".to_owned(),
            Place::Inside(name) => format!("the arguments of {name}"),
            Place::Select => "the select list".to_owned(),
            Place::Having => "HAVING".to_owned(),
            Place::Order => "ORDER BY".to_owned(),
        }
    }
}

/// When a column is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    Source,
    /// Analytic functions before the window.
    Early,
    /// Aggregates of WHERE.
    WhereAggregate,
    Aggregate,
    /// Analytic functions over aggregates.
    Late,
    RowNumber,
    Unnest,
}

pub(crate) struct Planner<'a> {
    pub select: &'a Select,
    pub catalog: &'a dyn Catalog,
    pub scope: Scope,
    pub has_window: bool,
    aliases: HashMap<&'a str, usize>,
    /// Aliases that are being compiled, innermost last.
    stack: Vec<usize>,
    ready: HashMap<(usize, u8), alias::Ready>,
    /// Levels of the tree compiled last, up to the nearest [`Expr::Deep`].
    height: usize,
    alias_nodes: usize,
    /// Calls around what is being compiled.
    calls_around: usize,
    /// By column: when it is there.
    stages: Vec<Stage>,
    /// Calls with state by their text: equal ones share a column.
    calls: HashMap<String, u16>,
    pub early: Vec<AnalyticPlan>,
    pub late: Vec<AnalyticPlan>,
    /// Whether HAVING, or ORDER BY, wants the late analytic functions.
    pub late_in_having: bool,
    pub late_in_order: bool,
    pub where_aggregates: Vec<AggregateCall>,
    pub aggregates: Vec<AggregateCall>,
    pub row_numbers: Vec<RowNumberPlan>,
    pub unnest: Option<UnnestPlan>,
    pub dedup: Option<Vec<Expr>>,
    pub spreads: usize,
    pub uses_row_context: bool,
}

impl<'a> Planner<'a> {
    pub fn new(select: &'a Select, catalog: &'a dyn Catalog) -> Result<Self> {
        let mut aliases = HashMap::new();
        for (at, item) in select.items.iter().enumerate() {
            let Some(alias) = &item.alias else { continue };
            if aliases.insert(alias.as_str(), at).is_some() {
                return Err(PlanError::at(
                    item.expr.span,
                    format!("two items of the select list have the alias {alias}"),
                )
                .expected("a name of its own for each"));
            }
        }
        Ok(Planner {
            select,
            catalog,
            scope: Scope::new(select, catalog)?,
            has_window: select.window().is_some(),
            aliases,
            stack: Vec::new(),
            ready: HashMap::new(),
            height: 0,
            alias_nodes: 0,
            calls_around: 0,
            stages: Vec::new(),
            calls: HashMap::new(),
            early: Vec::new(),
            late: Vec::new(),
            late_in_having: false,
            late_in_order: false,
            where_aggregates: Vec::new(),
            aggregates: Vec::new(),
            row_numbers: Vec::new(),
            unnest: None,
            dedup: None,
            spreads: 0,
            uses_row_context: false,
        })
    }

    /// Compiles one expression.
    pub fn compile(&mut self, e: &rekuiper_sql::Expr, place: Place) -> Result<Expr> {
        rekuiper_sql::deep(|| {
            let outer = std::mem::take(&mut self.height);
            let made = fold::folded(self.node(e, place)?);
            let mut height = self.height + 1;
            let made = if height >= DEEP_EVERY {
                height = 0;
                Expr::Deep(Deep::new(made))
            } else {
                made
            };
            self.height = outer.max(height);
            Ok(made)
        })
    }

    /// A new column for the result of a call.
    fn computed(&mut self, text: String, stage: Stage) -> Result<u16> {
        let col = self.scope.computed(text)?;
        self.stages.resize(self.scope.cols.len(), Stage::Source);
        if let Some(at) = self.stages.get_mut(usize::from(col)) {
            *at = stage;
        }
        Ok(col)
    }

    pub fn stage_of(&self, col: u16) -> Stage {
        self.stages
            .get(usize::from(col))
            .copied()
            .unwrap_or(Stage::Source)
    }

    /// The latest stage that an expression needs.
    pub fn needs(&self, e: &Expr) -> Stage {
        let mut latest = Stage::Source;
        e.each_col(&mut |col| latest = latest.max(self.stage_of(col)));
        latest
    }

    /// An expression as text, to tell whether two are the same.
    pub fn text(&self, e: &Expr) -> String {
        let name = |col: u16| match self.scope.cols.get(usize::from(col)) {
            Some(ColInfo::Source { .. }) => self.scope.name_of(col),
            _ => format!("#{col}"),
        };
        rekuiper_expr::Show {
            expr: e,
            name: &name,
        }
        .to_string()
    }

    /// An expression as text for people.
    pub fn show(&self, e: &Expr) -> String {
        rekuiper_expr::Show {
            expr: e,
            name: &|col| self.scope.name_of(col),
        }
        .to_string()
    }

    fn texts(&self, list: &[Expr]) -> String {
        list.iter()
            .map(|e| self.text(e))
            .collect::<Vec<_>>()
            .join(", ")
    }

    pub fn shows(&self, list: &[Expr]) -> String {
        list.iter()
            .map(|e| self.show(e))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

fn refuse<T>(span: Span, message: impl Into<String>) -> Result<T> {
    Err(PlanError::at(span, message))
}
