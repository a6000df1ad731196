//! Telegraf with `peers/telegraf/telegraf.conf`; W1 only.

use std::path::Path;
use std::process::Stdio;

use super::{Engine, Setting};
use crate::children::{self, Owned};

pub struct Telegraf {
    process: Owned,
}

impl Telegraf {
    pub fn start(program: &Path, setting: &Setting) -> Result<Telegraf, String> {
        let template = setting.home.join("peers/telegraf/telegraf.conf");
        let text = std::fs::read_to_string(&template)
            .map_err(|e| format!("{}: {e}", template.display()))?
            .replace("@PORT@", &setting.port.to_string())
            .replace("@SINK@", &setting.sinks[0].to_string_lossy());
        let config = setting.work.join("telegraf.conf");
        std::fs::write(&config, text).map_err(|e| format!("{}: {e}", config.display()))?;
        let log =
            std::fs::File::create(setting.work.join("telegraf.log")).map_err(|e| e.to_string())?;
        let mut command =
            children::command_on(&program.to_string_lossy(), setting.cores, setting.memory);
        command
            .arg("--config")
            .arg(&config)
            .stdout(Stdio::null())
            .stderr(log);
        Ok(Telegraf {
            process: Owned::spawn("telegraf", &mut command)?,
        })
    }
}

impl Engine for Telegraf {
    fn pid(&self) -> u32 {
        self.process.pid()
    }

    fn begin(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn check(&mut self) -> Result<(), String> {
        self.process.check()
    }

    /// Telegraf flushes when it ends.
    fn finish(&mut self) -> Result<(), String> {
        self.process.end();
        Ok(())
    }

    fn status(&mut self) -> String {
        "telegraf has no rule status".to_string()
    }
}
