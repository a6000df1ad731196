//! Source, sink and lookup traits and every connector
