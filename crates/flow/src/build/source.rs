//! Sources of a rule: streams with their decoders, and the lookup tables that it asks.

use std::collections::HashMap;
use std::sync::Arc;

use rekuiper_connect::{Lookup, Opened, Props, Source, find};
use rekuiper_formats::Decoder;
use rekuiper_ops::lookup::{CacheOptions, Lookups};
use rekuiper_plan::physical::{RulePlan, SourceKind};
use rekuiper_value::{Field, Str};

use crate::FlowError;
use crate::decode;
use crate::engine::EngineConfig;
use crate::lookup::Table;
use crate::metrics::{Node, NodeRef};
use crate::spec::{FlowCatalog, RuleSpec, StreamSpec};
use crate::stream::StreamCell;

/// A stream's source and decoder, made but not started.
pub struct MadeStream {
    pub name: Str,
    pub fields: Vec<Field>,
    pub source: Box<dyn Source>,
    pub decoder: Decoder,
    pub decodes: bool,
    /// Key among the shared streams.
    pub shared: Option<String>,
}

type MadeSources = (Vec<Option<MadeStream>>, HashMap<Str, Props>);

/// Sources of a plan; `find` gives a source's name in the catalog and its definition.
pub fn sources(
    plan: &RulePlan,
    find: &dyn Fn(&Str) -> Option<(Str, StreamSpec)>,
    spec: &RuleSpec,
    catalog: &dyn FlowCatalog,
    config: &EngineConfig,
) -> Result<MadeSources, FlowError> {
    let mut streams = Vec::new();
    let mut lookup_props = HashMap::new();
    for source in &plan.sources {
        let name = &source.stream;
        let Some((stream_name, found)) = find(name) else {
            return Err(FlowError::NotFound(format!("stream {name} is not found")));
        };
        streams.push(match source.kind {
            SourceKind::Lookup => {
                lookup_props.insert(stream_name, found.props);
                None
            }
            _ => {
                let made = stream(name, found, &source.fields, spec, catalog, config)?;
                Some(made)
            }
        });
    }
    Ok((streams, lookup_props))
}

fn stream(
    name: &Str,
    found: StreamSpec,
    fields: &[Field],
    spec: &RuleSpec,
    catalog: &dyn FlowCatalog,
    config: &EngineConfig,
) -> Result<MadeStream, FlowError> {
    let options = &found.def.options;
    let typ = found.typ();
    let connector = find(typ).and_then(|c| c.source);
    let Some(open) = connector else {
        return Err(FlowError::Connector(format!(
            "source type {typ} of stream {name} is not known to this build"
        )));
    };
    let datasource = options.datasource.as_deref().unwrap_or_default();
    let Opened::Source(source) = open(datasource, &found.props)? else {
        return Err(FlowError::Connector(format!("type {typ} is no source")));
    };
    let source = rekuiper_connect::intake::wrap(source, &found.props)?;
    source.check(&config.services)?;
    let event_time = spec.plan.is_event_time;
    let shared = options.shared.unwrap_or(false);
    Ok(MadeStream {
        name: name.clone(),
        fields: fields.to_vec(),
        decodes: !source.gives_rows(),
        decoder: decode::decoder(&found, catalog, event_time, &config.zone)?,
        source,
        shared: shared.then(|| format!("{name}{}", if event_time { " by event time" } else { "" })),
    })
}

/// Makes a lookup table; it is not open yet.
pub fn lookup(name: &str, catalog: &dyn FlowCatalog) -> Result<Arc<dyn Lookup>, FlowError> {
    let found = catalog
        .stream_spec(name)
        .ok_or_else(|| FlowError::NotFound(format!("table {name} is not found")))?;
    let options = &found.def.options;
    let typ = found.typ();
    let Some(open) = find(typ).and_then(|c| c.lookup) else {
        return Err(FlowError::Connector(format!("type {typ} of table {name} cannot look up")));
    };
    let (datasource, key) = (options.datasource.as_deref(), options.key.as_deref());
    match open(datasource.unwrap_or_default(), key.unwrap_or_default(), &found.props)? {
        Opened::Lookup(table) => Ok(table),
        _ => Err(FlowError::Connector(format!("type {typ} of table {name} cannot look up"))),
    }
}

/// The tables that a rule asks, with their caches.
pub fn lookups(
    sources: &[(Str, bool)],
    tables: &HashMap<String, Arc<dyn Lookup>>,
    catalog_props: &HashMap<Str, Props>,
) -> Vec<Option<Lookups>> {
    let made = |(name, is_lookup): &(Str, bool)| {
        let table = tables.get(name.as_str()).filter(|_| *is_lookup)?;
        let cache = catalog_props.get(name).and_then(cache_options);
        Some(Lookups { table: Arc::new(Table(table.clone())), cache })
    };
    sources.iter().map(made).collect()
}

fn cache_options(props: &Props) -> Option<CacheOptions> {
    let lookup = Props::new(props.map("lookup").ok()?);
    let on = lookup.bool("cache", false).unwrap_or(false);
    on.then(|| CacheOptions {
        ttl_ms: lookup.millis("cacheTtl", 0).unwrap_or(0),
        missing: lookup.bool("cacheMissingKey", false).unwrap_or(false),
        ..CacheOptions::default()
    })
}

/// Source and decoder of a stream as nodes of a rule.
pub fn stream_nodes(stream: &Arc<StreamCell>, at: usize, graph: bool) -> Vec<NodeRef> {
    let name = format!("source_{}", stream.name).into();
    let mut nodes = vec![NodeRef { name, node: Node::Source(stream.clone()) }];
    if stream.decodes && !graph {
        let name = format!("op_{}_decoder", at + 2).into();
        nodes.push(NodeRef { name, node: Node::Decoder(stream.clone()) });
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a table's `lookup` says of its cache: on, how long, whether misses are kept.
    fn cache(lookup: serde_json::Value) -> Option<(i64, bool)> {
        let props = serde_json::Map::from_iter([("lookup".to_owned(), lookup)]);
        cache_options(&Props::new(props)).map(|options| (options.ttl_ms, options.missing))
    }

    #[test]
    fn lookup_tables_have_the_cache_that_their_properties_say() {
        use serde_json::json;

        assert_eq!(cache_options(&Props::default()).map(|o| o.ttl_ms), None);
        assert_eq!(cache(json!({})), None);
        assert_eq!(cache(json!({"cache": false, "cacheTtl": 10})), None);
        assert_eq!(cache(json!({"cache": true})), Some((0, false)));
        assert_eq!(cache(json!({"cache": true, "cacheTtl": 600})), Some((600, false)));
        assert_eq!(cache(json!({"cache": true, "cacheTtl": "2s"})), Some((2_000, false)));
        assert_eq!(cache(json!({"cache": true, "cacheMissingKey": true})), Some((0, true)));
    }
}
