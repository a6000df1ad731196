//! The ways from sources to sinks.

use rekuiper_value::Str;

use crate::error::Result;
use crate::graph::sources::Sources;
use crate::graph::topology::{Graph, NodeKind};
use crate::graph::wrong;

/// A way into a sink.
pub(super) struct Chain {
    /// Source nodes; more than one where a window, watermark or join brings them together.
    pub sources: Vec<String>,
    pub steps: Vec<Step>,
    pub sink: String,
}

/// An operator on the way.
#[derive(Clone)]
pub(super) struct Step {
    pub node: String,
    /// By which case the way leaves a switch.
    pub case: Option<usize>,
}

/// What a node hands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Rows,
    Collection,
    Groups,
}

impl Flow {
    fn words(self) -> &'static str {
        match self {
            Flow::Rows => "single rows",
            Flow::Collection => "a collection of rows",
            Flow::Groups => "groups",
        }
    }
}

#[derive(Clone)]
struct Way {
    sources: Vec<String>,
    steps: Vec<Step>,
    flow: Flow,
}

/// All ways into all sinks.
pub(super) fn all(graph: &Graph, sources: &Sources<'_>) -> Result<Vec<Chain>> {
    let mut chains = Vec::new();
    for (sink, _) in graph.sinks() {
        for (from, case) in graph.inputs.get(sink).into_iter().flatten() {
            let way = way_to(graph, sources, from, *case)?;
            chains.push(Chain {
                sources: way.sources,
                steps: way.steps,
                sink: sink.clone(),
            });
        }
    }
    Ok(chains)
}

/// The way to a node, itself included. There is one only: where several edges meet, they go on as
/// one flow.
fn way_to(graph: &Graph, sources: &Sources<'_>, node: &str, case: Option<usize>) -> Result<Way> {
    rekuiper_sql::deep(|| {
        let Some(here) = graph.nodes.get(node) else {
            return Err(wrong(node, "there is no such node"));
        };
        if here.kind == NodeKind::Source {
            let sources = vec![node.to_owned()];
            return Ok(Way {
                sources,
                steps: Vec::new(),
                flow: Flow::Rows,
            });
        }
        let inputs = graph
            .inputs
            .get(node)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let mut ways = Vec::with_capacity(inputs.len());
        for (from, case) in inputs {
            ways.push(way_to(graph, sources, from, *case)?);
        }
        let mut way = together(graph, node, ways)?;
        way.flow = flow_out(graph, sources, node, &way)?;
        way.steps.push(Step {
            node: node.to_owned(),
            case,
        });
        Ok(way)
    })
}

fn together(graph: &Graph, node: &str, mut ways: Vec<Way>) -> Result<Way> {
    if ways.len() == 1
        && let Some(way) = ways.pop()
    {
        return Ok(way);
    }
    let mut all = Way {
        sources: Vec::new(),
        steps: Vec::new(),
        flow: Flow::Rows,
    };
    for way in ways {
        all.flow = if all.sources.is_empty() {
            way.flow
        } else {
            all.flow
        };
        if all.flow != way.flow {
            return Err(wrong(
                node,
                "its inputs are of different kinds: rows and collections",
            ));
        }
        let plain = |s: &Step| {
            graph
                .nodes
                .get(&s.node)
                .is_some_and(|n| n.node_type == "watermark")
        };
        if let Some(step) = way.steps.iter().find(|s| !plain(s)) {
            return Err(wrong(
                node,
                format!(
                    "operator {} stands before the streams come together",
                    step.node
                ),
            )
            .expected("it behind this node"));
        }
        for source in way.sources {
            if !all.sources.contains(&source) {
                all.sources.push(source);
            }
        }
        all.steps.extend(way.steps);
    }
    Ok(all)
}

fn flow_out(graph: &Graph, sources: &Sources<'_>, node: &str, way: &Way) -> Result<Flow> {
    let kind = graph.nodes.get(node).map_or("", |n| n.node_type.as_str());
    let flow = way.flow;
    let need = |fits: bool, what: &str| match fits {
        true => Ok(()),
        false => Err(wrong(
            node,
            format!("an operator of type {kind} cannot take {}", flow.words()),
        )
        .expected(what)),
    };
    match kind {
        "filter" | "pick" | "switch" => Ok(flow),
        "function" => need(flow != Flow::Groups, "it before groupby").map(|()| flow),
        "aggfunc" => need(flow != Flow::Rows, "a window before it").map(|()| Flow::Groups),
        "groupby" => need(
            flow == Flow::Collection,
            "a window before it, and one groupby",
        )
        .map(|()| Flow::Groups),
        "orderby" => need(flow != Flow::Rows, "a window before it").map(|()| flow),
        "window" => need(flow == Flow::Rows, "one window only").map(|()| Flow::Collection),
        "watermark" => need(flow == Flow::Rows, "it before the window").map(|()| flow),
        "join" => {
            let lookups = way.sources.iter().filter(|s| sources.is_lookup(s)).count();
            let one_lookup = flow == Flow::Rows && lookups == 1 && way.sources.len() == 2;
            need(
                flow == Flow::Collection || one_lookup,
                "a window before it, or one lookup table",
            )
            .map(|()| Flow::Collection)
        }
        "script" => Err(wrong(node, "script operators are not part of this build")
            .expected("a function node that calls a function made with POST /udf/javascript")),
        other => Err(wrong(node, format!("there is no operator of type {other}"))),
    }
}

impl Chain {
    /// The name that stands for a source in expressions.
    pub fn only_source(&self) -> Option<Str> {
        match &self.sources[..] {
            [one] => Some(Str::from(one.as_str())),
            _ => None,
        }
    }
}
