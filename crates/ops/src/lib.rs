//! Runtime operators, pure and synchronous: filter, windows, joins, aggregates, project
