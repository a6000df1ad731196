//! The engines that can be measured, one adapter a file. An adapter starts a program, lets it read
//! a stream from a port and write rows to a file, and stops it.

use std::path::{Path, PathBuf};

use mqttgen::workload::Workload;

use crate::spec::Spec;

pub mod bare;
pub mod kuiper;
pub mod telegraf;

/// What the user asked for: `--engine NAME=PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineSpec {
    pub name: String,
    pub path: PathBuf,
    /// SHA-256 of the program; every step checks that it still is that one.
    pub hash: String,
}

/// The REST-speaking engines differ in their etc/ folder only.
const KUIPERS: [&str; 2] = ["rekuiper", "ekuiper"];

impl EngineSpec {
    pub fn parse(text: &str) -> Result<EngineSpec, String> {
        let (name, path) = text.split_once('=').unwrap_or((text, ""));
        let path = match (name, path) {
            ("bare", _) => "builtin",
            ("rekuiper", _) => path,
            ("ekuiper" | "telegraf", "") => {
                return Err(format!(
                    "--engine {name} needs a path: --engine {name}=PATH"
                ));
            }
            ("ekuiper" | "telegraf", path) => path,
            _ => {
                return Err(format!(
                    "unknown engine `{name}`: expected rekuiper[=PATH], ekuiper=PATH, \
                     telegraf=PATH or bare=builtin"
                ));
            }
        };
        Ok(EngineSpec {
            name: name.to_string(),
            path: PathBuf::from(path),
            hash: String::new(),
        })
    }

    /// Telegraf and the bare program know W1 only.
    pub fn does(&self, workload: Workload) -> bool {
        KUIPERS.contains(&self.name.as_str()) || workload == Workload::W1
    }
}

/// What an engine needs to know to begin.
pub struct Setting<'a> {
    pub spec: &'a Spec,
    /// Of the broker or the peer, on 127.0.0.1.
    pub port: u16,
    /// One file for each stream; engines that know no REST take the first.
    pub sinks: &'a [PathBuf],
    /// A folder of its own, removed afterwards.
    pub work: &'a Path,
    /// The folder that holds `peers/`.
    pub home: &'a Path,
    /// As `taskset` reads it.
    pub cores: Option<&'a str>,
    /// Latency is measured: the floor then writes at once, as it would not for throughput.
    pub prompt: bool,
    /// Bytes of private memory, when no control group limits it.
    pub memory: Option<u64>,
}

pub trait Engine {
    fn pid(&self) -> u32;

    /// Called once the process is in its control group: make stream and rule and start it.
    fn begin(&mut self) -> Result<(), String>;

    /// An error when it is not running any more.
    fn check(&mut self) -> Result<(), String>;

    /// Lets the engine write what it still holds back; it need not go on afterwards.
    fn finish(&mut self) -> Result<(), String>;

    /// What the engine says about the rule, for the record.
    fn status(&mut self) -> String;
}

pub fn start(engine: &EngineSpec, setting: &Setting) -> Result<Box<dyn Engine>, String> {
    match engine.name.as_str() {
        "bare" => Ok(Box::new(bare::Bare::start(setting)?)),
        "telegraf" => Ok(Box::new(telegraf::Telegraf::start(&engine.path, setting)?)),
        name => Ok(Box::new(kuiper::Kuiper::start(
            name,
            &engine.path,
            setting,
        )?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_named_and_wrong_names_are_refused() {
        let bare = EngineSpec::parse("bare=builtin").unwrap();
        assert!(bare.does(Workload::W1) && !bare.does(Workload::W2));
        let ours = EngineSpec::parse("rekuiper").unwrap();
        assert!(ours.does(Workload::W5));
        assert_eq!(
            EngineSpec::parse("ekuiper=/x/kuiperd").unwrap().path,
            Path::new("/x/kuiperd")
        );
        assert!(EngineSpec::parse("ekuiper").is_err());
        assert!(EngineSpec::parse("flink=/x").is_err());
    }
}
