//! The sources of a rule, their names, and the columns that expressions have asked for so far.
//!
//! While expressions are compiled, columns are numbered as they come up; [`crate::number`] puts
//! them into the order of the plan afterwards.

use std::collections::HashMap;

use rekuiper_expr::{Expr, Part};
use rekuiper_sql::{FieldType, JoinKind, Select, Source, Span, StreamKind};
use rekuiper_value::{Field, Str};

use crate::catalog::{Catalog, StreamInfo};
use crate::error::{PlanError, Result};
use crate::physical::SourceKind;

pub(crate) struct ScopeSource {
    pub name: Str,
    pub alias: Option<Str>,
    pub info: StreamInfo,
    pub kind: SourceKind,
    /// How it is joined; INNER for the first.
    pub join: JoinKind,
    /// Declared columns and whether they are BOOLEAN; none in schemaless streams.
    declared: Option<HashMap<Str, bool>>,
    fields: HashMap<Field, u16>,
    pub span: Span,
}

/// What a column holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ColInfo {
    Source {
        source: usize,
        field: Field,
    },
    /// The result of a function that keeps state, with its text for EXPLAIN.
    Computed {
        text: String,
    },
}

pub(crate) struct Scope {
    pub sources: Vec<ScopeSource>,
    pub cols: Vec<ColInfo>,
}

impl ScopeSource {
    pub fn is_lookup(&self) -> bool {
        self.kind == SourceKind::Lookup
    }

    pub fn is_stream(&self) -> bool {
        self.kind == SourceKind::Stream
    }

    fn holds(&self, column: &str) -> bool {
        self.declared.is_none() || self.declares(column).is_some()
    }

    /// A declared column, as it is spelled there, and whether it is BOOLEAN.
    fn declares(&self, column: &str) -> Option<(&Str, bool)> {
        let declared = self.declared.as_ref()?;
        if let Some((name, boolean)) = declared.get_key_value(column) {
            return Some((name, *boolean));
        }
        let mut all = declared.iter().filter(|_| self.info.any_case);
        let found = all.find(|(name, _)| name.eq_ignore_ascii_case(column));
        found.map(|(name, boolean)| (name, *boolean))
    }

    /// The field that a name stands for: where case does not matter, as it is declared or was
    /// spelled first.
    fn spelled(&self, field: Field) -> Field {
        let Field::Named(name) = &field else { return field };
        if !self.info.any_case {
            return field;
        }
        if let Some((declared, _)) = self.declares(name) {
            return Field::Named(declared.clone());
        }
        let same = |f: &&Field| matches!(f, Field::Named(n) if n.eq_ignore_ascii_case(name));
        self.fields.keys().find(same).cloned().unwrap_or(field)
    }

    fn typed(&self) -> bool {
        self.declared.is_some()
    }

    /// The name that rows of it go by in the statement.
    pub fn shown(&self) -> &Str {
        self.alias.as_ref().unwrap_or(&self.name)
    }
}

fn source(catalog: &dyn Catalog, from: &Source, join: JoinKind) -> Result<ScopeSource> {
    let info = catalog.stream(&from.name).ok_or_else(|| {
        PlanError::at(
            from.span,
            format!("stream or table {} is not found", from.name),
        )
        .expected("a name that SHOW STREAMS or SHOW TABLES lists")
    })?;
    let options = &info.def.options;
    let kind = match info.def.kind {
        StreamKind::Stream => SourceKind::Stream,
        StreamKind::Table if options.kind.as_deref() == Some("lookup") => SourceKind::Lookup,
        StreamKind::Table => {
            let given = options
                .retain_size
                .and_then(|n| usize::try_from(n).ok())
                .filter(|n| *n > 0);
            SourceKind::ScanTable {
                retain: given.unwrap_or(info.default_retain),
            }
        }
    };
    let declared = info.fields().map(|fields| {
        let boolean = |f: &rekuiper_sql::Field| matches!(f.typ, FieldType::Boolean);
        fields
            .iter()
            .map(|f| (f.name.clone(), boolean(f)))
            .collect()
    });
    Ok(ScopeSource {
        name: from.name.clone(),
        alias: from.alias.clone(),
        kind,
        join,
        declared,
        fields: HashMap::new(),
        span: from.span,
        info,
    })
}

impl Scope {
    pub fn new(select: &Select, catalog: &dyn Catalog) -> Result<Self> {
        let mut sources = vec![source(catalog, &select.from, JoinKind::Inner)?];
        for join in &select.joins {
            let next = source(catalog, &join.source, join.kind)?;
            if sources.iter().any(|s| s.shown() == next.shown()) {
                return Err(PlanError::at(
                    next.span,
                    format!("two sources go by the name {}", next.shown()),
                )
                .expected("an alias for one of them: JOIN name AS other"));
            }
            sources.push(next);
        }
        Ok(Scope {
            sources,
            cols: Vec::new(),
        })
    }

    /// Which source a qualifier means: aliases first, then names.
    pub fn source_named(&self, name: &str) -> Option<usize> {
        let alias = |s: &ScopeSource| s.alias.as_ref().is_some_and(|a| a == name);
        self.sources
            .iter()
            .position(alias)
            .or_else(|| self.sources.iter().position(|s| s.name == name))
    }

    fn alloc(&mut self, info: ColInfo) -> Result<u16> {
        let number = u16::try_from(self.cols.len())
            .ok()
            .filter(|n| *n < u16::MAX);
        let number = number.ok_or_else(|| {
            PlanError::general("the rule reads and computes more than 65,000 columns")
                .expected("fewer: SELECT * and a member access, or several rules, do the same")
        })?;
        self.cols.push(info);
        Ok(number)
    }

    /// A new column for the result of a function.
    pub fn computed(&mut self, text: String) -> Result<u16> {
        self.alloc(ColInfo::Computed { text })
    }

    /// The column of a field of a source; the same for the same field.
    pub fn field(&mut self, source: usize, field: Field) -> Result<u16> {
        let field = match self.sources.get(source) {
            Some(s) => s.spelled(field),
            None => field,
        };
        if let Some(col) = self.sources.get(source).and_then(|s| s.fields.get(&field)) {
            return Ok(*col);
        }
        let col = self.alloc(ColInfo::Source {
            source,
            field: field.clone(),
        })?;
        if let Some(s) = self.sources.get_mut(source) {
            s.fields.insert(field, col);
        }
        Ok(col)
    }

    /// `source.name`
    pub fn qualified(&mut self, source: usize, name: &Str, span: Span) -> Result<Expr> {
        let known = &self.sources[source];
        if !known.holds(name) {
            return Err(self.unknown(name, span, Some(source)));
        }
        Ok(Expr::Col(self.field(source, Field::Named(name.clone()))?))
    }

    /// Whether some typed stream declares this column.
    pub fn declares(&self, name: &str) -> bool {
        self.sources.iter().any(|s| s.typed() && s.holds(name))
    }

    /// Whether some typed stream declares this column as BOOLEAN.
    pub fn is_boolean(&self, name: &str) -> bool {
        let found = |s: &ScopeSource| s.declares(name).map(|(_, boolean)| boolean);
        self.sources.iter().filter_map(found).any(|b| b)
    }

    /// Whether every source is typed: then unknown columns are mistakes.
    pub fn all_typed(&self) -> bool {
        self.sources.iter().all(ScopeSource::typed)
    }

    /// A column by its bare name.
    pub fn unqualified(&mut self, name: &Str, span: Span) -> Result<Expr> {
        let holders: Vec<usize> = (0..self.sources.len())
            .filter(|i| self.sources[*i].holds(name))
            .collect();
        match holders[..] {
            [] => Err(self.unknown(name, span, None)),
            [one] => Ok(Expr::Col(self.field(one, Field::Named(name.clone()))?)),
            [first, second, ..] if self.all_typed() => {
                let (a, b) = (self.sources[first].shown(), self.sources[second].shown());
                Err(PlanError::at(
                    span,
                    format!("ambiguous column {name}: {a} and {b} have it"),
                )
                .expected(format!("{a}.{name} or {b}.{name}")))
            }
            _ => {
                let mut cols = Vec::with_capacity(holders.len());
                for source in holders {
                    cols.push(self.field(source, Field::Named(name.clone()))?);
                }
                Ok(Expr::FirstOf(cols.into()))
            }
        }
    }

    fn unknown(&self, name: &str, span: Span, source: Option<usize>) -> PlanError {
        let asked = match source {
            Some(at) => std::slice::from_ref(&self.sources[at]),
            None => &self.sources[..],
        };
        let streams: Vec<&str> = asked.iter().map(|s| s.shown().as_str()).collect();
        let mut known: Vec<&str> = asked
            .iter()
            .flat_map(|s| s.declared.iter().flat_map(|d| d.keys()))
            .map(Str::as_str)
            .collect();
        known.sort_unstable();
        known.dedup();
        let shown = if known.len() > 20 {
            &known[..20]
        } else {
            &known[..]
        };
        let more = if known.len() > 20 { ", ..." } else { "" };
        PlanError::at(
            span,
            format!("unknown column {name} of {}", streams.join(" and ")),
        )
        .expected(format!("one of {}{more}", shown.join(", ")))
    }

    /// `source.*`: the whole row of one source.
    pub fn whole_of(&mut self, source: usize) -> Result<Expr> {
        Ok(Expr::Col(self.field(source, Field::Whole)?))
    }

    /// The parts of `*`: of streams that are joined, the earlier one wins where both have a name;
    /// in a RIGHT JOIN the joined one.
    pub fn whole_parts(&mut self) -> Result<Vec<Part>> {
        let mut parts = Vec::with_capacity(self.sources.len());
        for source in 0..self.sources.len() {
            let whole = self.whole_of(source)?;
            let over = source == 0 || self.sources[source].join == JoinKind::Right;
            parts.push(if over {
                Part::Spread(whole)
            } else {
                Part::SpreadUnder(whole)
            });
        }
        Ok(parts)
    }

    /// `*` as one value.
    pub fn whole(&mut self) -> Result<Expr> {
        let mut parts = self.whole_parts()?;
        match (parts.len(), parts.pop()) {
            (1, Some(Part::Spread(one))) => Ok(one),
            (_, Some(last)) => {
                parts.push(last);
                Ok(Expr::Row(parts.into()))
            }
            (_, None) => Ok(Expr::Row(Box::default())),
        }
    }

    /// The source a column comes from; none for computed ones.
    pub fn source_of(&self, col: u16) -> Option<usize> {
        match self.cols.get(usize::from(col)) {
            Some(ColInfo::Source { source, .. }) => Some(*source),
            _ => None,
        }
    }

    /// A column's name for EXPLAIN and for telling expressions apart.
    pub fn name_of(&self, col: u16) -> String {
        match self.cols.get(usize::from(col)) {
            Some(ColInfo::Source { source, field }) => {
                let stream = &self.sources[*source].name;
                match field {
                    Field::Named(name) => format!("{stream}.{name}"),
                    Field::Whole => format!("{stream}.*"),
                    Field::Meta(key) => format!("meta({stream}.{key})"),
                    Field::MetaWhole => format!("meta({stream}.*)"),
                }
            }
            Some(ColInfo::Computed { text }) => text.clone(),
            None => format!("column {col}"),
        }
    }
}
