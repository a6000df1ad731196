//! Conversions between kinds, as cast() and typed columns do them.
