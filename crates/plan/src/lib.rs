//! From AST to a checked physical plan: names bound to slots, errors at creation, EXPLAIN
