//! `kuiper export data FILE`: the whole configuration; with `-r '["rule"]'` only these rules and
//! what they need. The file is written here.

use crate::args::Flag;
use crate::command::{Call, Command};
use crate::files;
use crate::outcome::{Answered, Failure};

pub const DEF: Command = Command {
    verb: "export",
    noun: "data",
    takes: "FILE",
    about: "write the whole configuration into a file",
    flags: &[Flag {
        names: &["rules", "r"],
        value: "LIST",
        help: "only these rules and what they need: a JSON list of names",
    }],
    run,
};

fn run(call: &Call) -> Answered {
    let file = call.only("configuration file to write")?;
    let reply = match call.args.flag("rules") {
        None => call.client.get("/data/export")?,
        Some(list) => {
            let names: Vec<String> = serde_json::from_str(list).map_err(|e| {
                Failure::Refused(format!("error in flag r, a JSON list of rule names: {e}"))
            })?;
            call.client.post("/data/export", &serde_json::json!(names).to_string())?
        }
    };
    let text = reply.text().map_err(|e| e.after("Export data error: "))?;
    files::write(file, &text)?;
    Ok("export configuration success".to_string().into())
}
