//! What the properties of operator nodes say.

use rekuiper_functions::lookup;
use rekuiper_sql::{
    Expr, ExprKind, Item, Name, Sort, Span, TimeUnit, Window, WindowKind, parse_expr, parse_item,
};
use serde_json::Value;

use crate::catalog::Catalog;
use crate::error::{PlanError, Result};
use crate::graph::wrong;

/// The node's name and properties.
#[derive(Clone, Copy)]
pub(super) struct Props<'a> {
    pub node: &'a str,
    pub props: &'a Value,
}

impl<'a> Props<'a> {
    pub fn bad(&self, message: impl std::fmt::Display) -> PlanError {
        wrong(self.node, message)
    }

    fn text(&self, key: &str) -> Result<&'a str> {
        let found = self
            .props
            .get(key)
            .and_then(Value::as_str)
            .filter(|s| !s.trim().is_empty());
        found.ok_or_else(|| self.bad(format!("property {key} must be text and not empty")))
    }

    fn list(&self, key: &str) -> Result<&'a [Value]> {
        let found = self
            .props
            .get(key)
            .and_then(Value::as_array)
            .filter(|l| !l.is_empty());
        found
            .map(Vec::as_slice)
            .ok_or_else(|| self.bad(format!("property {key} must be a list and not empty")))
    }

    fn texts(&self, key: &str) -> Result<Vec<&'a str>> {
        let bad = || self.bad(format!("property {key} must be a list of texts"));
        self.list(key)?
            .iter()
            .map(|v| v.as_str().ok_or_else(bad))
            .collect()
    }

    fn read(&self, text: &str) -> Result<Expr> {
        parse_expr(text).map_err(|e| self.bad(e.render(text)))
    }

    /// `expr` of a filter.
    pub fn condition(&self) -> Result<Expr> {
        self.read(self.text("expr")?)
    }

    /// `expr` of function and aggfunc: one call and its result's name.
    pub fn call(&self, aggregate: bool, catalog: &dyn Catalog) -> Result<(Name, Expr)> {
        let text = self.text("expr")?;
        let item = parse_item(text).map_err(|e| self.bad(e.render(text)))?;
        let ExprKind::Call(call) = &item.expr.kind else {
            return Err(self.bad(format!("\"{text}\" is no single function call")));
        };
        let def = lookup(&call.name).or_else(|| catalog.external_function(&call.name));
        let def = def.ok_or_else(|| self.bad(format!("unknown function {}", call.original)))?;
        if def.is_aggregate() != aggregate {
            let (is, node) = if aggregate {
                ("no aggregate", "function")
            } else {
                ("an aggregate", "aggfunc")
            };
            return Err(self
                .bad(format!("{} is {is}", call.original))
                .expected(format!("it in a node of type {node}")));
        }
        let name = item.alias.clone().unwrap_or_else(|| call.name.clone());
        Ok((name, item.expr))
    }

    /// `fields` of a pick.
    pub fn fields(&self) -> Result<Vec<Item>> {
        let item = |text: &str| parse_item(text).map_err(|e| self.bad(e.render(text)));
        self.texts("fields")?.into_iter().map(item).collect()
    }

    /// `dimensions` of a groupby.
    pub fn dimensions(&self) -> Result<Vec<Expr>> {
        self.texts("dimensions")?
            .into_iter()
            .map(|t| self.read(t))
            .collect()
    }

    /// `cases` of a switch.
    pub fn cases(&self) -> Result<Vec<Expr>> {
        self.texts("cases")?
            .into_iter()
            .map(|t| self.read(t))
            .collect()
    }

    pub fn stops_at_first(&self) -> bool {
        self.props
            .get("stopAtFirstMatch")
            .and_then(Value::as_bool)
            .unwrap_or(false)
    }

    /// `sorts` of an orderby.
    pub fn sorts(&self) -> Result<Vec<Sort>> {
        let mut sorts = Vec::new();
        for sort in self.list("sorts")? {
            let field = sort.get("field").and_then(Value::as_str);
            let field = field.ok_or_else(|| self.bad("each of sorts needs a field"))?;
            let desc = sort.get("desc").and_then(Value::as_bool).unwrap_or(false);
            sorts.push(Sort {
                expr: self.read(field)?,
                desc,
            });
        }
        Ok(sorts)
    }

    /// `emitters` of a watermark.
    pub fn emitters(&self) -> Result<Vec<&'a str>> {
        self.texts("emitters")
    }

    fn number(&self, key: &str) -> Result<Option<i64>> {
        match self.props.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(v) => {
                let whole = v.as_i64().or_else(|| {
                    v.as_f64()
                        .filter(|f| f.trunc() == *f && f.abs() < 9e15)
                        .map(|f| f as i64)
                });
                whole
                    .map(Some)
                    .ok_or_else(|| self.bad(format!("property {key} must be a whole number")))
            }
        }
    }

    /// The window that the properties describe, as SQL has it.
    pub fn window(&self) -> Result<Window> {
        let kind = WindowKind::by_name(self.text("type")?)
            .filter(|k| *k != WindowKind::State)
            .ok_or_else(|| {
                self.bad("unknown type of window").expected(
                    "tumblingwindow, hoppingwindow, slidingwindow, sessionwindow or countwindow",
                )
            })?;
        let size = self.number("size")?.unwrap_or(0);
        if size <= 0 {
            return Err(self.bad("property size must be above 0"));
        }
        let interval = self.number("interval")?.unwrap_or(0);
        let fits = match kind {
            WindowKind::Tumbling | WindowKind::Sliding => interval == 0 || interval == size,
            WindowKind::Hopping => (1..=size).contains(&interval),
            WindowKind::Session => interval > 0,
            WindowKind::Count => (0..=size).contains(&interval),
            WindowKind::State => false,
        };
        if !fits {
            return Err(self.bad(format!(
                "an interval of {interval} does not fit a {} of size {size}",
                kind.name()
            )));
        }
        let int = |i: i64| Expr::new(ExprKind::Int(i), Span::default());
        let mut args = Vec::with_capacity(3);
        if kind != WindowKind::Count {
            args.push(Expr::new(ExprKind::TimeUnit(self.unit()?), Span::default()));
        }
        args.push(int(size));
        let second = match kind {
            WindowKind::Hopping | WindowKind::Session => true,
            WindowKind::Count => interval > 0,
            _ => false,
        };
        if second {
            args.push(int(interval));
        }
        Ok(Window {
            kind,
            args,
            filter: None,
            over_when: None,
            over_partition: Vec::new(),
        })
    }

    fn unit(&self) -> Result<TimeUnit> {
        let all = [
            TimeUnit::Day,
            TimeUnit::Hour,
            TimeUnit::Minute,
            TimeUnit::Second,
            TimeUnit::Millisecond,
        ];
        let text = self.text("unit")?;
        all.into_iter()
            .find(|u| u.word().eq_ignore_ascii_case(text))
            .ok_or_else(|| {
                self.bad(format!("unknown unit {text}"))
                    .expected("dd, hh, mi, ss or ms")
            })
    }
}
