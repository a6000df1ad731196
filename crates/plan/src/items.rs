//! The select list: what the results hold, under which names.

use std::collections::HashMap;

use rekuiper_expr::Expr;
use rekuiper_functions::Kind;
use rekuiper_sql::{Call, ExprKind, Item};
use rekuiper_value::{Str, Value};

use crate::compile::{Place, Planner};
use crate::error::{PlanError, Result};
use crate::internal;
use crate::physical::{OutItem, OutNulls};

/// The select list while it is compiled.
#[derive(Default)]
struct List {
    out: Vec<OutItem>,
    /// Those that win over all others.
    last: Vec<OutItem>,
    /// Items without any name so far.
    nameless: usize,
    names: HashMap<Str, ()>,
}

impl List {
    /// The item's result name; an error where a visible item has it already.
    fn name(&mut self, item: &Item) -> Result<Str> {
        let name = match item.alias.as_deref().or(item.expr.natural_name()) {
            Some(name) => Str::from(name),
            None => {
                self.nameless += 1;
                Str::from(format!("kuiper_field_{}", self.nameless - 1))
            }
        };
        if !item.invisible && self.names.insert(name.clone(), ()).is_some() {
            return Err(PlanError::at(
                item.expr.span,
                format!("two columns of the result are called {name}"),
            )
            .expected("an alias for one of them: ... AS other"));
        }
        Ok(name)
    }

    fn push(&mut self, item: &Item, out: OutItem) {
        if !item.invisible {
            self.out.push(out);
        }
    }
}

impl Planner<'_> {
    /// Compiles the select list.
    pub fn items(&mut self, send_nil: bool) -> Result<Vec<OutItem>> {
        let select = self.select;
        let mut list = List::default();
        for (at, item) in select.items.iter().enumerate() {
            match &item.expr.kind {
                ExprKind::Star(star) => {
                    if item.alias.is_some() {
                        return Err(PlanError::at(item.expr.span, "* takes no alias"));
                    }
                    let parts = self.star_parts(star, item.expr.span, Place::Select)?;
                    list.push(item, OutItem::Row(parts.into()));
                }
                ExprKind::Call(call) if self.stands_alone(call) => {
                    self.special(item, call, &mut list)?;
                }
                _ => self.plain(at, item, send_nil, &mut list)?,
            }
        }
        list.out.append(&mut list.last);
        Ok(list.out)
    }

    /// Calls that make columns or rows, and so are whole items.
    fn stands_alone(&self, call: &Call) -> bool {
        let Ok(def) = self.function(call, Default::default()) else {
            return false;
        };
        matches!(def.kind, Kind::MultiColumn(_) | Kind::MultiRow) || def.name == "dedup_trigger"
    }

    fn special(&mut self, item: &Item, call: &Call, list: &mut List) -> Result<()> {
        let span = item.expr.span;
        let def = self.function(call, span)?;
        match (def.kind, def.name) {
            (Kind::MultiColumn(_), _) => {
                let col = self.multi_column(call, def, span)?;
                list.push(item, OutItem::Members(col));
            }
            (Kind::MultiRow, "extract") => {
                let name = list.name(item)?;
                let expr = self.unnest(call, def, span)?;
                if let Some(plan) = &mut self.unnest {
                    let object = std::mem::replace(&mut plan.expr, Expr::Lit(Value::Null));
                    plan.expr = Expr::Call {
                        def: &internal::EXTRACT,
                        args: Box::new([object]),
                    };
                }
                list.last.push(OutItem::Spread { name, expr });
            }
            (Kind::MultiRow, _) => {
                let name = list.name(item)?;
                let expr = self.unnest(call, def, span)?;
                list.last.push(OutItem::Spread { name, expr });
            }
            _ => {
                let name = list.name(item)?;
                let expr = self.dedup_trigger(call, def, span)?;
                list.push(
                    item,
                    OutItem::Field {
                        name,
                        expr,
                        nulls: OutNulls::LeaveOut,
                    },
                );
            }
        }
        Ok(())
    }

    fn plain(&mut self, at: usize, item: &Item, send_nil: bool, list: &mut List) -> Result<()> {
        let expr = match item.alias {
            Some(_) => self.alias(at, item.expr.span, Place::Select)?,
            None => self.compile(&item.expr, Place::Select)?,
        };
        let name = list.name(item)?;
        // a name that is an alias of another item stands for what that one computes
        let column = matches!(item.expr.kind, ExprKind::Column { .. })
            && matches!(expr, Expr::Col(_) | Expr::FirstOf(_));
        let nulls = match (column, item.alias.is_some()) {
            // collected over nothing, it is shown as null and not left out
            _ if self.collects(&expr) => OutNulls::Keep,
            (true, _) | (_, true) if send_nil => OutNulls::Keep,
            (true, false) => OutNulls::AsPresent,
            _ => OutNulls::LeaveOut,
        };
        list.push(
            item,
            match expr {
                Expr::Lit(value) if !value.is_null() => OutItem::Const { name, value },
                expr => OutItem::Field { name, expr, nulls },
            },
        );
        Ok(())
    }

    /// Whether the expression is what `collect` gives.
    fn collects(&self, expr: &Expr) -> bool {
        let Expr::Col(col) = expr else { return false };
        let collect = |def: &str| matches!(def, "collect" | "inc_collect");
        self.aggregates
            .iter()
            .any(|call| call.col == *col && collect(call.def.name))
    }
}
