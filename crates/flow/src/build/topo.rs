//! How the nodes of a rule are joined.

use super::source::MadeStream;
use crate::metrics::{NodeRef, Topo};

/// Sources and operators.
pub fn of_operators(
    names: &[String],
    streams: &[Option<MadeStream>],
    nodes: &[NodeRef],
    graph: bool,
) -> Topo {
    let mut topo = Topo::default();
    let first = nodes.first().map(|n| n.name.to_string()).unwrap_or_default();
    for (at, name) in names.iter().enumerate() {
        let Some(stream) = streams.get(at).and_then(Option::as_ref) else { continue };
        let source = format!("source_{name}");
        topo.sources.push(source.clone());
        if stream.decodes && !graph {
            let decoder = format!("op_{}_decoder", at + 2);
            topo.edges.push((source, vec![decoder.clone()]));
            topo.edges.push((decoder, vec![first.clone()]));
        } else if !first.is_empty() {
            topo.edges.push((source, vec![first.clone()]));
        }
    }
    for pair in nodes.windows(2) {
        topo.edges.push((pair[0].name.to_string(), vec![pair[1].name.to_string()]));
    }
    topo
}

pub fn join(topo: &mut Topo, from: &str, to: &str) {
    match topo.edges.iter_mut().find(|(name, _)| name == from) {
        Some((_, targets)) => targets.push(to.to_owned()),
        None => topo.edges.push((from.to_owned(), vec![to.to_owned()])),
    }
}
