//! A chain written down as the SELECT that does the same.

use rekuiper_sql::{
    BinaryOp, Case, Expr, ExprKind, Item, Join, JoinKind, Name, Select, Source, Span, Star, Window,
    parse_expr,
};
use rekuiper_value::Str;
use serde_json::Value;

use crate::error::Result;
use crate::graph::chains::{Chain, Step};
use crate::graph::nodes::Props;
use crate::graph::rewrite::Names;
use crate::graph::sources::Sources;
use crate::graph::topology::Graph;

pub(super) struct Made {
    pub select: Select,
    /// Several sources that flow together without a join.
    pub merge: bool,
}

struct Writer<'a> {
    graph: &'a Graph,
    sources: &'a Sources<'a>,
    chain: &'a Chain,
    names: Names,
    /// What a pick left, in its order; none: all columns and what was computed.
    picked: Option<Vec<Item>>,
    joins: Option<(Str, Vec<Join>)>,
    window: Option<Window>,
    before_window: Option<Expr>,
    where_: Option<Expr>,
    having: Option<Expr>,
    dimensions: Vec<Expr>,
    grouped: bool,
    order_by: Vec<rekuiper_sql::Sort>,
}

fn expr(kind: ExprKind) -> Expr {
    Expr::new(kind, Span::default())
}

fn and(left: Option<Expr>, right: Expr) -> Option<Expr> {
    let paren = |e: Expr| Box::new(expr(ExprKind::Paren(Box::new(e))));
    Some(match left {
        None => right,
        Some(left) => expr(ExprKind::Binary {
            op: BinaryOp::And,
            left: paren(left),
            right: paren(right),
        }),
    })
}

fn source(node: &str, sources: &Sources<'_>) -> Source {
    let stream = sources.get(node).and_then(|(s, _)| s.stream.clone());
    let alias = stream.filter(|s| s != node).map(Name::from);
    Source {
        name: node.into(),
        alias,
        span: Span::default(),
    }
}

pub(super) fn select(graph: &Graph, chain: &Chain, sources: &Sources<'_>) -> Result<Made> {
    let mut writer = Writer {
        graph,
        sources,
        chain,
        names: Names::of(chain.only_source()),
        picked: None,
        joins: None,
        window: None,
        before_window: None,
        where_: None,
        having: None,
        dimensions: Vec::new(),
        grouped: false,
        order_by: Vec::new(),
    };
    for step in &chain.steps {
        writer.step(step)?;
    }
    Ok(writer.finish())
}

impl Writer<'_> {
    fn step(&mut self, step: &Step) -> Result<()> {
        let Some(node) = self.graph.nodes.get(&step.node) else {
            return Ok(());
        };
        let props = Props {
            node: &step.node,
            props: &node.props,
        };
        match node.node_type.as_str() {
            "filter" => {
                let condition = self.names.resolve(&props.condition()?)?;
                self.filter(condition);
            }
            "function" | "aggfunc" => {
                let aggregate = node.node_type == "aggfunc";
                let (name, call) = props.call(aggregate, self.sources)?;
                let call = self.names.resolve(&call)?;
                self.grouped |= aggregate;
                self.names.put(name, call);
                self.picked = None;
            }
            "pick" => self.pick(props)?,
            "window" => self.window = Some(props.window()?),
            "groupby" => {
                for dimension in props.dimensions()? {
                    let dimension = self.names.resolve(&dimension)?;
                    self.dimensions.push(dimension);
                }
                self.grouped = true;
            }
            "orderby" => {
                for mut sort in props.sorts()? {
                    sort.expr = self.names.resolve(&sort.expr)?;
                    self.order_by.push(sort);
                }
            }
            "switch" => self.switch(props, step.case)?,
            "watermark" => {
                for emitter in props.emitters()? {
                    if self.sources.get(emitter).is_none() {
                        return Err(props.bad(format!("emitter {emitter} is no source node")));
                    }
                }
            }
            "join" => self.join(props)?,
            other => return Err(props.bad(format!("there is no operator of type {other}"))),
        }
        Ok(())
    }

    /// A condition becomes FILTER, WHERE or HAVING, after where it stands.
    fn filter(&mut self, condition: Expr) {
        let later = |w: &Self| {
            let is_window = |s: &Step| {
                w.graph
                    .nodes
                    .get(&s.node)
                    .is_some_and(|n| n.node_type == "window")
            };
            w.window.is_none() && w.chain.steps.iter().any(is_window)
        };
        let place = if self.grouped {
            &mut self.having
        } else if later(self) {
            &mut self.before_window
        } else {
            &mut self.where_
        };
        *place = and(place.take(), condition);
    }

    fn pick(&mut self, props: Props<'_>) -> Result<()> {
        let (mut made, mut items, mut open) = (Vec::new(), Vec::new(), false);
        for (at, item) in props.fields()?.into_iter().enumerate() {
            let e = self.names.resolve(&item.expr)?;
            if let ExprKind::Star(_) = &e.kind {
                open = !self.names.closed;
                made.extend(self.names.made.iter().cloned());
                items.extend(open.then(|| Item {
                    expr: e,
                    alias: None,
                    invisible: false,
                }));
                let all = self.names.made.iter().map(|(name, e)| Item {
                    expr: e.clone(),
                    alias: Some(name.clone()),
                    invisible: false,
                });
                items.extend(all);
                continue;
            }
            let name = match item.alias.as_deref().or(item.expr.natural_name()) {
                Some(name) => Name::from(name),
                None => Name::from(format!("kuiper_field_{at}")),
            };
            let plain = matches!(&e.kind, ExprKind::Column { name: n, .. } if *n == name);
            let alias = (!plain || item.alias.is_some()).then(|| name.clone());
            items.push(Item {
                expr: e.clone(),
                alias,
                invisible: false,
            });
            made.push((name, e));
        }
        self.names.made.clear();
        made.into_iter()
            .for_each(|(name, e)| self.names.put(name, e));
        self.names.closed = !open;
        self.picked = Some(items);
        Ok(())
    }

    /// Only what the chosen case lets through; with stopAtFirstMatch no case before it.
    fn switch(&mut self, props: Props<'_>, case: Option<usize>) -> Result<()> {
        let mut cases = Vec::new();
        for condition in props.cases()? {
            cases.push(self.names.resolve(&condition)?);
        }
        let at = case.unwrap_or(0);
        if at >= cases.len() {
            return Err(props.bad("it has more edges than cases"));
        }
        let own = cases.swap_remove(at);
        cases.truncate(at);
        if cases.is_empty() || !props.stops_at_first() {
            self.filter(own);
            return Ok(());
        }
        let paren = |e: Expr| expr(ExprKind::Paren(Box::new(e)));
        let whens = cases
            .into_iter()
            .map(|e| (paren(e), expr(ExprKind::Bool(false))))
            .collect();
        let first = Case {
            value: None,
            whens,
            else_: Some(Box::new(own)),
        };
        self.filter(expr(ExprKind::Case(first)));
        Ok(())
    }

    fn join(&mut self, props: Props<'_>) -> Result<()> {
        let text = |v: &Value, key: &str| v.get(key).and_then(Value::as_str).map(str::to_owned);
        let known = |name: &str| {
            if !self.chain.sources.iter().any(|s| s == name) {
                return Err(props.bad(format!("{name} is no source that leads to it")));
            }
            if self.sources.is_scan_table(name) {
                return Err(props.bad(format!("{name} is a scan table and cannot be joined here")));
            }
            Ok(())
        };
        let from = text(props.props, "from").unwrap_or_default();
        known(&from)?;
        if self.sources.get(&from).is_some() && self.sources.is_lookup(&from) {
            return Err(props.bad("from must be a stream"));
        }
        let list = props
            .props
            .get("joins")
            .and_then(Value::as_array)
            .filter(|l| !l.is_empty());
        let list = list.ok_or_else(|| props.bad("property joins must be a list and not empty"))?;
        let mut joins = Vec::with_capacity(list.len());
        for join in list {
            let name = text(join, "name").unwrap_or_default();
            known(&name)?;
            let word = text(join, "type").unwrap_or_default();
            let all = [
                JoinKind::Inner,
                JoinKind::Left,
                JoinKind::Right,
                JoinKind::Full,
                JoinKind::Cross,
            ];
            let kind = all
                .into_iter()
                .find(|k| k.word().eq_ignore_ascii_case(&word))
                .ok_or_else(|| {
                    props
                        .bad(format!("unknown type of join \"{word}\""))
                        .expected("inner, left, right, full or cross")
                })?;
            let on = match text(join, "on").filter(|t| !t.trim().is_empty()) {
                Some(text) => Some(parse_expr(&text).map_err(|e| props.bad(e.render(&text)))?),
                None => None,
            };
            let on = on.filter(|_| kind != JoinKind::Cross);
            joins.push(Join {
                kind,
                source: source(&name, self.sources),
                on,
            });
        }
        self.joins = Some((from.into(), joins));
        Ok(())
    }

    fn finish(mut self) -> Made {
        let items = self.picked.take().unwrap_or_else(|| {
            let star = expr(ExprKind::Star(Star::default()));
            let all = (!self.names.closed).then_some(Item {
                expr: star,
                alias: None,
                invisible: false,
            });
            let made = self.names.made.drain(..).map(|(name, expr)| Item {
                expr,
                alias: Some(name),
                invisible: false,
            });
            all.into_iter().chain(made).collect()
        });
        let merge = self.joins.is_none();
        let (from, joins) = self.joins.take().unwrap_or_else(|| {
            let cross = |s: &String| Join {
                kind: JoinKind::Cross,
                source: source(s, self.sources),
                on: None,
            };
            let first = self.chain.sources.first().cloned().unwrap_or_default();
            (
                first.into(),
                self.chain.sources.iter().skip(1).map(cross).collect(),
            )
        });
        let mut group_by = self.dimensions;
        if let Some(mut window) = self.window {
            window.filter = self.before_window;
            group_by.push(expr(ExprKind::Window(Box::new(window))));
        }
        let select = Select {
            items,
            from: source(&from, self.sources),
            joins,
            where_: self.where_,
            group_by,
            having: self.having,
            order_by: self.order_by,
            limit: None,
        };
        Made { select, merge }
    }
}
