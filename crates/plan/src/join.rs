//! Joins: of streams and scan tables within a window or with each row, and look-ups.

use rekuiper_expr::{CmpOp, Expr};
use rekuiper_sql::Join;
use rekuiper_value::{Field, Str};

use crate::compile::{Place, Planner};
use crate::error::{PlanError, Result};
use crate::physical::{JoinPlan, LookupPlan};
use crate::scope::ColInfo;

#[derive(Default)]
pub(crate) struct Joins {
    pub joins: Vec<JoinPlan>,
    pub lookups: Vec<LookupPlan>,
}

impl Planner<'_> {
    pub fn joins(&mut self) -> Result<Joins> {
        let select = self.select;
        let mut all = Joins::default();
        if let Some(first) = self.scope.sources.first().filter(|s| s.is_lookup()) {
            return Err(PlanError::at(
                first.span,
                format!(
                    "{} is a lookup table: it has no rows of its own to begin with",
                    first.name
                ),
            )
            .expected("a stream in FROM, and the table in JOIN"));
        }
        for (at, join) in select.joins.iter().enumerate() {
            let right = at + 1;
            let on = join
                .on
                .as_ref()
                .map(|e| self.compile(e, Place::On))
                .transpose()?;
            if self.scope.sources[right].is_lookup() {
                all.lookups.push(self.lookup(join, right, on)?);
            } else {
                let equal = on
                    .as_ref()
                    .map(|e| self.equal_pairs(e, right))
                    .unwrap_or_default();
                all.joins.push(JoinPlan {
                    kind: join.kind,
                    right,
                    on,
                    equal,
                });
            }
        }
        Ok(all)
    }

    fn lookup(&mut self, join: &Join, right: usize, on: Option<Expr>) -> Result<LookupPlan> {
        let (name, span) = (join.source.name.clone(), join.source.span);
        if !self.scope.sources[right].info.can_lookup {
            return Err(
                PlanError::at(span, format!("the source of table {name} cannot look up"))
                    .expected("a lookup table whose TYPE can (memory, redis, sql, ...)"),
            );
        }
        let mut parts = Vec::new();
        if let Some(on) = on {
            conjuncts(on, &mut parts);
        }
        let (mut keys, mut rest) = (Vec::new(), Vec::new());
        for part in parts {
            match self.key(part, right) {
                Ok(key) => keys.push(key),
                Err(part) => rest.push(part),
            }
        }
        if keys.is_empty() {
            return Err(PlanError::at(
                span,
                format!("nothing says which rows of {name} to look up"),
            )
            .expected(format!(
                "ON {name}.column = expression, joined to the rest by AND"
            )));
        }
        Ok(LookupPlan {
            kind: join.kind,
            right,
            keys,
            on: all_of(rest),
        })
    }

    /// A part of ON as column of the table and its value; the part itself where it is none.
    fn key(&self, part: Expr, right: usize) -> std::result::Result<(Str, Expr), Expr> {
        let Expr::Cmp(CmpOp::Eq, pair) = part else {
            return Err(part);
        };
        for (column, value) in [(&pair.0, &pair.1), (&pair.1, &pair.0)] {
            if let Some(name) = self.table_column(column, right)
                && !self.reads(value, right)
            {
                return Ok((name, value.clone()));
            }
        }
        Err(Expr::Cmp(CmpOp::Eq, pair))
    }

    fn table_column(&self, e: &Expr, right: usize) -> Option<Str> {
        let Expr::Col(col) = e else { return None };
        match self.scope.cols.get(usize::from(*col)) {
            Some(ColInfo::Source {
                source,
                field: Field::Named(name),
            }) if *source == right => Some(name.clone()),
            _ => None,
        }
    }

    /// Whether an expression reads a column of the source.
    pub fn reads(&self, e: &Expr, source: usize) -> bool {
        let mut found = false;
        e.each_col(&mut |col| found |= self.scope.source_of(col) == Some(source));
        found
    }

    /// `earlier = right` pairs of ON.
    fn equal_pairs(&self, on: &Expr, right: usize) -> Vec<(Expr, Expr)> {
        let mut parts = Vec::new();
        conjuncts(on.clone(), &mut parts);
        let only = |e: &Expr, of_right: bool| {
            let (mut any, mut fits) = (false, true);
            e.each_col(&mut |col| {
                any = true;
                fits &= match self.scope.source_of(col) {
                    Some(source) => (source == right) == of_right && source <= right,
                    None => false,
                };
            });
            any && fits
        };
        parts
            .into_iter()
            .filter_map(|part| match part {
                Expr::Cmp(CmpOp::Eq, pair) if only(&pair.0, false) && only(&pair.1, true) => {
                    Some(*pair)
                }
                Expr::Cmp(CmpOp::Eq, pair) if only(&pair.0, true) && only(&pair.1, false) => {
                    Some((pair.1, pair.0))
                }
                _ => None,
            })
            .collect()
    }
}

/// The conditions that AND joins.
pub(crate) fn conjuncts(e: Expr, out: &mut Vec<Expr>) {
    let mut open = vec![e];
    while let Some(e) = open.pop() {
        match e {
            Expr::And(pair) => {
                open.push(pair.1);
                open.push(pair.0);
            }
            other => out.push(other),
        }
    }
}

/// The conditions joined by AND again.
pub(crate) fn all_of(parts: Vec<Expr>) -> Option<Expr> {
    parts.into_iter().reduce(Expr::and)
}
