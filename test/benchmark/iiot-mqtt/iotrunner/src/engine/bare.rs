//! The bare program as an engine: this same executable with the hidden command `bare`.

use super::{Engine, Setting};
use crate::children::{self, Owned};

pub struct Bare {
    process: Owned,
}

impl Bare {
    pub fn start(setting: &Setting) -> Result<Bare, String> {
        let me = std::env::current_exe().map_err(|e| e.to_string())?;
        let mut command =
            children::command_on(&me.to_string_lossy(), setting.cores, setting.memory);
        command
            .args(["bare", "--port", &setting.port.to_string(), "--sink"])
            .arg(&setting.sinks[0]);
        if setting.prompt {
            command.arg("--prompt");
        }
        Ok(Bare {
            process: Owned::spawn("the bare program", &mut command)?,
        })
    }
}

impl Engine for Bare {
    fn pid(&self) -> u32 {
        self.process.pid()
    }

    fn begin(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn check(&mut self) -> Result<(), String> {
        self.process.check()
    }

    fn finish(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn status(&mut self) -> String {
        "the bare program has no status".to_string()
    }
}
