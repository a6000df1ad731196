//! Embedded key-value store of definitions and state
