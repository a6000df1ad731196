//! EXPLAIN: the plan that is run, root first, in eKuiper's form.

use rekuiper_expr::{Expr, Show};
use rekuiper_value::{Field, Str};

use crate::physical::{
    AggregateCall, AnalyticPlan, JoinPlan, LookupPlan, OutItem, RulePlan, SortKey, Stage,
    WindowPlan, WindowShape,
};

/// One node of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainNode {
    /// Kind, without its number.
    pub op: &'static str,
    pub info: String,
    pub children: Vec<ExplainNode>,
}

impl ExplainNode {
    /// One line a node: `{"op":"ProjectPlan_0","info":"..."}`, children behind tabs.
    pub fn text(&self) -> String {
        let (mut out, mut count) = (String::new(), 0);
        self.write(&mut out, &mut count, 0);
        out
    }

    fn write(&self, out: &mut String, count: &mut usize, depth: usize) {
        out.extend(std::iter::repeat_n('\t', (2 * depth).saturating_sub(1)));
        let op = format!("{}_{count}", self.op);
        *count += 1;
        let line = serde_json::json!({ "info": self.info });
        let info = line
            .get("info")
            .map(ToString::to_string)
            .unwrap_or_default();
        out.push_str(&format!("{{\"op\":\"{op}\",\"info\":{info}}}\n"));
        for child in &self.children {
            child.write(out, count, depth + 1);
        }
    }
}

struct Names<'a>(&'a [String]);

impl Names<'_> {
    fn show(&self, e: &Expr) -> String {
        let name = |col: u16| self.0.get(usize::from(col)).cloned().unwrap_or_default();
        Show {
            expr: e,
            name: &name,
        }
        .to_string()
    }

    fn list(&self, all: &[Expr]) -> String {
        all.iter()
            .map(|e| self.show(e))
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn sorts(&self, keys: &[SortKey]) -> String {
        let one = |k: &SortKey| {
            format!(
                "{} {}",
                self.show(&k.expr),
                if k.desc { "DESC" } else { "ASC" }
            )
        };
        keys.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    fn aggregates(&self, calls: &[AggregateCall]) -> String {
        let one = |c: &AggregateCall| format!("{}({})", c.def.name, self.list(&c.args));
        calls.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    fn analytic(&self, call: &AnalyticPlan) -> String {
        let mut text = format!("{}({})", call.def.name, self.list(&call.args));
        if !call.partition.is_empty() {
            text.push_str(&format!(" PARTITION BY {}", self.list(&call.partition)));
        }
        if let Some(when) = &call.when {
            text.push_str(&format!(" WHEN {}", self.show(when)));
        }
        text
    }

    fn item(&self, item: &OutItem) -> String {
        match item {
            OutItem::Field { name, expr, .. } => {
                let text = self.show(expr);
                match text.rsplit('.').next() == Some(name.as_str()) {
                    true => text,
                    false => format!("$$alias.{name},aliasRef:{text}"),
                }
            }
            OutItem::Const { name, value } => {
                format!(
                    "$$alias.{name},aliasRef:{}",
                    self.show(&Expr::Lit(value.clone()))
                )
            }
            OutItem::Row(parts) => match &parts[..] {
                [rekuiper_expr::Part::Spread(Expr::Col(_))] => "*".to_owned(),
                _ => self.show(&Expr::Row(parts.clone())),
            },
            OutItem::Spread { name, expr } => format!("$$alias.{name},spread:{}", self.show(expr)),
            OutItem::Members(expr) => self.show(expr),
        }
    }

    fn window(&self, w: &WindowPlan) -> String {
        let unit = w.unit.word();
        let mut text = match &w.shape {
            WindowShape::Tumbling { length } => {
                format!("{{ length:{length}ms, windowType:TUMBLING_WINDOW, unit:{unit} }}")
            }
            WindowShape::Hopping { length, hop } => format!(
                "{{ length:{length}ms, interval:{hop}ms, windowType:HOPPING_WINDOW, unit:{unit} }}"
            ),
            WindowShape::Sliding { length, delay } => format!(
                "{{ length:{length}ms, delay:{delay}ms, windowType:SLIDING_WINDOW, unit:{unit} }}"
            ),
            WindowShape::Session { length, timeout } => format!(
                "{{ length:{length}ms, timeout:{timeout}ms, \
                 windowType:SESSION_WINDOW, unit:{unit} }}"
            ),
            WindowShape::Count { count, every } => {
                format!("{{ length:{count}, interval:{every}, windowType:COUNT_WINDOW }}")
            }
            WindowShape::State { begin, end } => {
                let end = end.as_ref().map(|e| format!(", end:{}", self.show(e)));
                let end = end.unwrap_or_default();
                format!(
                    "{{ begin:{}{end}, windowType:STATE_WINDOW }}",
                    self.show(begin)
                )
            }
        };
        if let Some(filter) = &w.filter {
            text.push_str(&format!(", filter:{{ {} }}", self.show(filter)));
        }
        if let Some(when) = &w.trigger_when {
            text.push_str(&format!(", triggerCondition:{{ {} }}", self.show(when)));
        }
        if !w.partition.is_empty() {
            text.push_str(&format!(", partition:[ {} ]", self.list(&w.partition)));
        }
        text
    }

    fn join(&self, join: &JoinPlan, names: &[Str]) -> String {
        let right = names.get(join.right).cloned().unwrap_or_default();
        let on = join
            .on
            .as_ref()
            .map(|e| format!(", {}", self.show(e)))
            .unwrap_or_default();
        let equal: Vec<String> = join
            .equal
            .iter()
            .map(|(a, b)| format!("{} = {}", self.show(a), self.show(b)))
            .collect();
        let hash = if equal.is_empty() {
            String::new()
        } else {
            format!(", hash:[ {} ]", equal.join(", "))
        };
        format!(
            "{{ joinType:{}_JOIN, {right}{on}{hash} }}",
            join.kind.word()
        )
    }

    fn lookup(&self, l: &LookupPlan, names: &[Str]) -> String {
        let table = names.get(l.right).cloned().unwrap_or_default();
        let keys: Vec<String> = l
            .keys
            .iter()
            .map(|(k, e)| format!("{table}.{k} = {}", self.show(e)))
            .collect();
        let on =
            l.on.as_ref()
                .map(|e| format!(" AND {}", self.show(e)))
                .unwrap_or_default();
        format!(
            "Join:{{ joinType:{}_JOIN, expr:{}{on} }}",
            l.kind.word(),
            keys.join(" AND ")
        )
    }

    fn stage(&self, stage: &Stage, names: &[Str]) -> (&'static str, String) {
        match stage {
            Stage::Watermark { late_tolerance_ms } => (
                "WatermarkPlan",
                format!(
                    "Emitters:[ {} ], SendWatermark:true, LateTolerance:{late_tolerance_ms}ms",
                    names.join(", ")
                ),
            ),
            Stage::Filter(e) => ("FilterPlan", format!("Condition:{{ {} }}, ", self.show(e))),
            Stage::Having(e) => ("HavingPlan", format!("Condition:{{ {} }}, ", self.show(e))),
            Stage::Analytic(calls) => {
                let calls: Vec<String> = calls.iter().map(|c| self.analytic(c)).collect();
                (
                    "AnalyticFuncsPlan",
                    format!("Funcs:[ {} ]", calls.join(", ")),
                )
            }
            Stage::Window(w) => ("WindowPlan", self.window(w)),
            // shown as two nodes by `tree`; this is the lower one
            Stage::WindowAggregate(w, _) => ("WindowPlan", self.window(w)),
            Stage::Join(joins) => {
                let joins: Vec<String> = joins.iter().map(|j| self.join(j, names)).collect();
                ("JoinPlan", format!("Joins:[ {} ]", joins.join(", ")))
            }
            Stage::Lookup(l) => ("LookupPlan", self.lookup(l, names)),
            Stage::AggregateColumns(calls) => {
                ("AggFunc", format!("aggFuncs:[{}]", self.aggregates(calls)))
            }
            Stage::Aggregate(a) => {
                let mut text = format!("Dimension:{{ {} }}", self.list(&a.dimensions));
                text.push_str(&format!(", funcs:[{}]", self.aggregates(&a.calls)));
                if !a.sort_rows.is_empty() {
                    text.push_str(&format!(", sortRows:[ {} ]", self.sorts(&a.sort_rows)));
                }
                ("AggregatePlan", text)
            }
            Stage::RowNumber(r) => (
                "WindowFuncPlan",
                format!(
                    "windowFuncField:{{name:row_number, partition:[{}], order:[{}]}}",
                    self.list(&r.partition),
                    self.sorts(&r.order)
                ),
            ),
            Stage::Order(keys) => ("OrderPlan", format!("SortFields:[ {} ]", self.sorts(keys))),
            Stage::Limit(n) => ("LimitPlan", format!("Limit:{n}")),
            Stage::Unnest(u) => {
                let limit = u.limit.map(|n| format!(", Limit:{n}")).unwrap_or_default();
                let on = u.limit.is_some();
                (
                    "ProjectSetPlan",
                    format!("SrfMap:{{{}}}, EnableLimit:{on}{limit}", self.show(&u.expr)),
                )
            }
            Stage::DedupTrigger(args) => (
                "DedupTriggerPlan",
                format!("Args:[ {} ]", self.list(&args[..args.len().min(4)])),
            ),
        }
    }
}

/// The plan as a tree.
pub(crate) fn tree(plan: &RulePlan, names: &[String]) -> ExplainNode {
    let shown = Names(names);
    let streams: Vec<Str> = plan.sources.iter().map(|s| s.stream.clone()).collect();
    let mut below: Vec<ExplainNode> = plan
        .sources
        .iter()
        .map(|s| {
            let mut fields: Vec<&str> = s
                .fields
                .iter()
                .filter_map(|f| match f {
                    Field::Named(name) => Some(name.as_str()),
                    Field::Whole => Some("*"),
                    _ => None,
                })
                .collect();
            fields.sort_unstable();
            let info = match fields[..] {
                [] => format!("StreamName: {}", s.stream),
                _ => format!(
                    "StreamName: {}, StreamFields:[ {} ]",
                    s.stream,
                    fields.join(", ")
                ),
            };
            ExplainNode {
                op: "DataSourcePlan",
                info,
                children: Vec::new(),
            }
        })
        .collect();
    for step in &plan.stages {
        let (op, info) = shown.stage(&step.stage, &streams);
        below = vec![ExplainNode { op, info, children: below }];
        if let Stage::WindowAggregate(_, a) = &step.stage {
            // run as one: the window keeps the state of its aggregates instead of its rows
            let dims = shown.list(&a.dimensions);
            let funcs = shown.aggregates(&a.calls);
            let info = format!("Dimension:{{ {dims} }}, funcs:[{funcs}], state: per group");
            below = vec![ExplainNode { op: "AggregatePlan", info, children: below }];
        }
    }
    let items: Vec<String> = plan
        .projection
        .items
        .iter()
        .map(|i| shown.item(i))
        .collect();
    let info = format!("Fields:[ {} ]", items.join(", "));
    ExplainNode {
        op: "ProjectPlan",
        info,
        children: below,
    }
}
