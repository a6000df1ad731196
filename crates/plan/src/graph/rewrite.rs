//! Names in a node's expression mean what the nodes before it left: columns of the stream, or what
//! they computed under that name.

use rekuiper_sql::{Call, Case, Expr, ExprKind, InList, Name, Over, Sort, Span, Star};

use crate::error::{PlanError, Result};

/// Most nodes that rewriting may make of a graph's expressions.
const NODES_MAX: usize = 200_000;

/// What names stand for at a place of the graph.
#[derive(Default)]
pub(super) struct Names {
    /// Computed columns in the order in which they came.
    pub made: Vec<(Name, Expr)>,
    /// The columns of the stream are gone: a pick left only `made`.
    pub closed: bool,
    /// The one source, by which its columns are told from computed ones.
    pub source: Option<Name>,
    nodes: usize,
}

impl Names {
    pub fn of(source: Option<Name>) -> Self {
        Names {
            source,
            ..Names::default()
        }
    }

    /// A column under a name, over any that was there.
    pub fn put(&mut self, name: Name, e: Expr) {
        self.made.retain(|(n, _)| *n != name);
        self.made.push((name, e));
    }

    /// The expression in terms of the sources' columns.
    pub fn resolve(&mut self, e: &Expr) -> Result<Expr> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            return Err(
                PlanError::general("the expressions of the graph grow too large")
                    .expected("fewer nodes that use the results of each other"),
            );
        }
        rekuiper_sql::deep(|| Ok(Expr::new(self.kind(&e.kind, e)?, e.span)))
    }

    fn column(&mut self, name: &Name) -> Result<ExprKind> {
        if let Some((_, made)) = self.made.iter().find(|(n, _)| n == name) {
            let made = made.clone();
            count(&made, &mut self.nodes);
            return Ok(match &made.kind {
                column @ ExprKind::Column { .. } => column.clone(),
                _ => ExprKind::Paren(Box::new(made)),
            });
        }
        if self.closed {
            // not picked by the nodes before: null, as in eKuiper
            return Ok(null());
        }
        Ok(ExprKind::Column {
            qualifier: self.source.clone(),
            name: name.clone(),
        })
    }

    fn kind(&mut self, kind: &ExprKind, e: &Expr) -> Result<ExprKind> {
        Ok(match kind {
            ExprKind::Column {
                qualifier: None,
                name,
            } => self.column(name)?,
            ExprKind::Column {
                qualifier: Some(first),
                name,
            } => {
                let made = self.made.iter().any(|(n, _)| n == first);
                match &self.source {
                    Some(source) if source != first || made => {
                        let base = Expr::new(self.column(first)?, e.span);
                        ExprKind::Member {
                            base: Box::new(base),
                            name: name.clone(),
                            arrow: true,
                        }
                    }
                    _ => kind.clone(),
                }
            }
            ExprKind::Call(call) => ExprKind::Call(self.call(call)?),
            ExprKind::Star(star) => {
                let mut replace = Vec::with_capacity(star.replace.len());
                for (e, name) in &star.replace {
                    replace.push((self.resolve(e)?, name.clone()));
                }
                ExprKind::Star(Star {
                    replace,
                    ..star.clone()
                })
            }
            ExprKind::Paren(a) => ExprKind::Paren(self.boxed(a)?),
            ExprKind::Unary { op, expr } => ExprKind::Unary {
                op: *op,
                expr: self.boxed(expr)?,
            },
            ExprKind::Binary { op, left, right } => ExprKind::Binary {
                op: *op,
                left: self.boxed(left)?,
                right: self.boxed(right)?,
            },
            ExprKind::Member { base, name, arrow } => ExprKind::Member {
                base: self.boxed(base)?,
                name: name.clone(),
                arrow: *arrow,
            },
            ExprKind::Index { base, index } => ExprKind::Index {
                base: self.boxed(base)?,
                index: self.boxed(index)?,
            },
            ExprKind::Slice { base, from, to } => ExprKind::Slice {
                base: self.boxed(base)?,
                from: self.maybe(from)?,
                to: self.maybe(to)?,
            },
            other => self.condition(other)?,
        })
    }

    /// Conditions and CASE; literals and the like stay as they are.
    fn condition(&mut self, kind: &ExprKind) -> Result<ExprKind> {
        Ok(match kind {
            ExprKind::Between {
                expr,
                low,
                high,
                not,
            } => ExprKind::Between {
                expr: self.boxed(expr)?,
                low: self.boxed(low)?,
                high: self.boxed(high)?,
                not: *not,
            },
            ExprKind::In { expr, list, not } => ExprKind::In {
                expr: self.boxed(expr)?,
                list: match list {
                    InList::Items(items) => InList::Items(self.list(items)?),
                    InList::Value(array) => InList::Value(self.boxed(array)?),
                },
                not: *not,
            },
            ExprKind::Like { expr, pattern, not } => ExprKind::Like {
                expr: self.boxed(expr)?,
                pattern: self.boxed(pattern)?,
                not: *not,
            },
            ExprKind::IsNull { expr, not } => ExprKind::IsNull {
                expr: self.boxed(expr)?,
                not: *not,
            },
            ExprKind::Case(case) => {
                let mut whens = Vec::with_capacity(case.whens.len());
                for (when, then) in &case.whens {
                    whens.push((self.resolve(when)?, self.resolve(then)?));
                }
                let (value, else_) = (self.maybe(&case.value)?, self.maybe(&case.else_)?);
                ExprKind::Case(Case {
                    value,
                    whens,
                    else_,
                })
            }
            other => other.clone(),
        })
    }

    fn call(&mut self, call: &Call) -> Result<Call> {
        // their arguments are keys of metadata, no columns
        if matches!(call.name.as_str(), "meta" | "mqtt") {
            return Ok(call.clone());
        }
        let over = match &call.over {
            None => None,
            Some(over) => {
                let mut order = Vec::with_capacity(over.order.len());
                for sort in &over.order {
                    order.push(Sort {
                        expr: self.resolve(&sort.expr)?,
                        desc: sort.desc,
                    });
                }
                let (partition, when) = (self.list(&over.partition)?, self.maybe(&over.when)?);
                Some(Over {
                    partition,
                    when,
                    order,
                })
            }
        };
        Ok(Call {
            args: self.list(&call.args)?,
            over,
            ..call.clone()
        })
    }

    fn boxed(&mut self, e: &Expr) -> Result<Box<Expr>> {
        self.resolve(e).map(Box::new)
    }

    fn maybe(&mut self, e: &Option<Box<Expr>>) -> Result<Option<Box<Expr>>> {
        e.as_ref().map(|e| self.boxed(e)).transpose()
    }

    fn list(&mut self, all: &[Expr]) -> Result<Vec<Expr>> {
        all.iter().map(|e| self.resolve(e)).collect()
    }
}

/// SQL has no literal null: a CASE that takes no way is one.
fn null() -> ExprKind {
    let part = |kind| Expr::new(kind, Span::default());
    let never = (part(ExprKind::Bool(false)), part(ExprKind::Int(0)));
    let case = Case {
        value: None,
        whens: vec![never],
        else_: None,
    };
    ExprKind::Case(case)
}

fn count(e: &Expr, nodes: &mut usize) {
    *nodes += 1;
    for child in crate::compile::children(e) {
        rekuiper_sql::deep(|| count(child, nodes));
    }
}
