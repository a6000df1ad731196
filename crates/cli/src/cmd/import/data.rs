//! `kuiper import data -f FILE -s true|false -p true|false`. Without `-p true` everything that is
//! there is dropped first. A `.yaml` file is taken as the second form of the export.

use serde_json::json;

use super::super::shared::{FILE, lists};
use crate::args::Flag;
use crate::command::{Call, Command};
use crate::files;
use crate::outcome::{Answer, Answered, Failure};

pub const DEF: Command = Command {
    verb: "import",
    noun: "data",
    takes: "",
    about: "take over a whole configuration from a file",
    flags: &[
        FILE,
        Flag { names: &["s", "stop"], value: "true|false", help: "stop the server afterwards" },
        Flag { names: &["p", "partial"], value: "true|false", help: "add to what there is" },
    ],
    run,
};

fn run(call: &Call) -> Answered {
    let Some(file) = call.args.flag("file") else {
        return Err(Failure::Unmet("Expect the file to import: -f FILE.".into()));
    };
    let stop = lists::boolean(call, "s")?;
    let partial = lists::boolean(call, "p")?;
    let body = body(file)?;
    let error = "Import data error: ";
    if file.ends_with(".yaml") || file.ends_with(".yml") {
        let text = call.client.post("/v2/data/import", &body)?.text().map_err(|e| e.after(error))?;
        return Ok(text.trim_end().to_string().into());
    }
    let mut asked = Vec::new();
    if partial {
        asked.push("partial=1");
    }
    if stop {
        asked.push("stop=1");
    }
    let path = format!("/data/import?{}", asked.join("&"));
    let reply = call.client.post(path.trim_end_matches('?'), &body)?;
    reply.json().map(Answer::Data).map_err(|e| e.after(error))
}

/// The file as the API takes it: its text, or the address where the server finds it.
pub fn body(file: &str) -> Result<String, Failure> {
    if file.starts_with("http://") || file.starts_with("https://") {
        return Ok(json!({"file": file}).to_string());
    }
    let text = files::read(file.strip_prefix("file://").unwrap_or(file))?;
    Ok(json!({"content": text}).to_string())
}
