//! The list of connectors.

use crate::traits::Opened;
use crate::{ConnectError, Props};

/// From DATASOURCE and the effective properties.
pub type OpenSource = fn(&str, &Props) -> Result<Opened, ConnectError>;
/// From the effective properties.
pub type OpenSink = fn(&Props) -> Result<Opened, ConnectError>;
/// From DATASOURCE, the KEY option and the properties.
pub type OpenLookup = fn(&str, &str, &Props) -> Result<Opened, ConnectError>;

/// What a connector says of itself. A role it does not play is `None`.
pub struct ConnectorDef {
    /// The word users type: TYPE of a stream, or the key of an action.
    pub name: &'static str,
    /// Made from the DATASOURCE and the effective properties.
    pub source: Option<OpenSource>,
    pub sink: Option<OpenSink>,
    /// Made from DATASOURCE, the KEY option and the properties.
    pub lookup: Option<OpenLookup>,
}

/// One line a connector.
static CONNECTORS: &[&ConnectorDef] = &[
    &crate::embed::CONNECTOR,
    &crate::file::CONNECTOR,
    &crate::httppull::CONNECTOR,
    &crate::httppush::CONNECTOR,
    &crate::log::CONNECTOR,
    &crate::log_to_memory::CONNECTOR,
    &crate::memory::CONNECTOR,
    &crate::mqtt::CONNECTOR,
    &crate::nexmark::CONNECTOR,
    &crate::nop::CONNECTOR,
    &crate::rest::CONNECTOR,
    &crate::simulator::CONNECTOR,
    &crate::sse::CONNECTOR,
    &crate::websocket::CONNECTOR,
];

pub fn connectors() -> &'static [&'static ConnectorDef] {
    CONNECTORS
}

pub fn find(name: &str) -> Option<&'static ConnectorDef> {
    CONNECTORS.iter().copied().find(|c| c.name == name)
}
