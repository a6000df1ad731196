//! `iotrunner`: runs the MQTT workloads W1 to W5 against engines and proves the outcome.
//!
//! It knows how to start a broker, a generator and an engine, how to read the engine's output
//! file back and compare it with what was sent, how to sample a process, and how to judge and
//! record a step.
//!
//! It does NOT know the inside of any engine: no crate of the engine is linked here, an engine is
//! a program at a path that is spoken to over REST and MQTT and leaves a file.

pub mod bare;
pub mod broker;
pub mod cgroup;
pub mod check;
pub mod children;
pub mod engine;
pub mod generator;
pub mod http;
pub mod judge;
pub mod latency;
pub mod machine;
pub mod meter;
pub mod options;
pub mod page;
pub mod plan;
pub mod provenance;
pub mod pulse;
pub mod report;
pub mod sample;
pub mod spec;
pub mod step;
pub mod suite;
pub mod warmup;
