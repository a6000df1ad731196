//! Topology, shared streams, queues, rule states, checkpoints
