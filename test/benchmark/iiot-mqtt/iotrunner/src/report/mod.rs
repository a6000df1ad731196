//! The evidence folder of a run.

use std::fs;
use std::path::{Path, PathBuf};

use mqttgen::report::unix_ms;

use crate::machine;
use crate::options::Options;
use crate::plan::Results;
use crate::suite;

pub mod figures;
mod multicore;
pub mod svg;
pub mod tables;

/// Writes the folder and returns its path.
pub fn write(options: &Options, command: &str, results: &Results) -> Result<PathBuf, String> {
    let default = format!("{}-{}", machine::date(unix_ms()), options.label);
    let folder = options
        .out
        .clone()
        .unwrap_or_else(|| options.home.join("runs").join(default));
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let clean = |text: String| without_paths(options, text);
    put(
        &folder,
        "README.md",
        &clean(readme(options, command, results)),
    )?;
    put(&folder, "raw.csv", &tables::raw(&results.outcomes))?;
    put(&folder, "summary.md", &clean(tables::summary(results)))?;
    put(&folder, "proofs.md", &clean(tables::proofs(results)))?;
    put(
        &folder,
        "figures.md",
        &clean(figures::figures(options, results)),
    )?;
    put(
        &folder,
        "results.json",
        &clean(figures::results_json(options, results)),
    )?;
    let histogram = tables::latencies(&results.outcomes);
    if !histogram.is_empty() {
        put(&folder, "latency.csv", &histogram)?;
    }
    for (name, text) in svg::plots(&results.outcomes) {
        put(&folder, &name, &text)?;
    }
    Ok(folder)
}

/// A record is for everybody: folders of this machine do not belong in it.
fn without_paths(options: &Options, text: String) -> String {
    let home = options
        .home
        .canonicalize()
        .unwrap_or_else(|_| options.home.clone());
    let repository = home.ancestors().nth(3).unwrap_or(&home);
    [(&*options.work, "WORK"), (repository, "REPOSITORY")]
        .iter()
        .fold(text, |text, (path, name)| match path.to_str() {
            Some(path) if path.len() > 1 => text.replace(path, name),
            _ => text,
        })
}

fn put(folder: &Path, name: &str, text: &str) -> Result<(), String> {
    let path = folder.join(name);
    fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
}

fn readme(options: &Options, command: &str, results: &Results) -> String {
    let mut notes: Vec<String> = results
        .outcomes
        .iter()
        .flat_map(|outcome| outcome.notes.clone())
        .collect();
    notes.sort();
    notes.dedup();
    let notes: String = notes.iter().map(|note| format!("- {note}\n")).collect();
    let from = match (&options.from, options.suite) {
        (Some(folder), Some(_)) => {
            format!(
                "- broker rates taken from {}\n",
                suite::source_of_rates(folder)
            )
        }
        _ => String::new(),
    };
    let others = tables::others_mean(&results.outcomes);
    format!(
        "# Run `{}`\n\nWhat was run: `{command}`, sending for {} s a step.\n\n## Machine\n{}\n\n\
         ## How it was limited and measured\n{notes}{from}\
         - everybody else on the machine used {others:.0} % of a core on average while sending\n\n\
         The figures are in [summary.md](summary.md), what was proven in [proofs.md](proofs.md), \
         each second in [raw.csv](raw.csv), \
         everything for programs in [results.json](results.json).\n\n## Figures\n{}\n## Steps\n{}",
        options.label,
        options.seconds,
        machine::describe(options),
        figures::figures(options, results),
        tables::summary_table(results)
    )
}
