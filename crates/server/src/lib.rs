//! kuiperd: REST API, configuration, catalog
