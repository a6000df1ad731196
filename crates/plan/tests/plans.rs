//! Plans as text: `plans.txt` holds statements and what EXPLAIN says of them. Run with
//! UPDATE_PLANS=1 to write it anew, and read the difference.

mod support;

use rekuiper_plan::physical::Stage;
use rekuiper_plan::{Planned, RuleOptions, plan_rule};
use rekuiper_sql::parse_select;
use support::Streams;

fn streams() -> Streams {
    let mut all = Streams::default();
    for ddl in [
        "CREATE STREAM demo () WITH (DATASOURCE=\"demo\", TIMESTAMP=\"ts\")",
        "CREATE STREAM more () WITH (DATASOURCE=\"more\", TIMESTAMP=\"ts\")",
        "CREATE STREAM typed (a BIGINT, b STRING, o STRUCT(x BIGINT)) WITH (DATASOURCE=\"t\")",
        "CREATE TABLE tbl () WITH (DATASOURCE=\"tbl.json\", TYPE=\"file\", RETAIN_SIZE=\"3\")",
        "CREATE TABLE lt () WITH (DATASOURCE=\"lt\", TYPE=\"memory\", KIND=\"lookup\", KEY=\"id\")",
    ] {
        all.create(ddl).expect(ddl);
    }
    all
}

/// EXPLAIN, the stages as nodes, the names of the result and what rows keep in the window.
fn told(planned: &Planned) -> String {
    let mut out = planned.explain.text();
    let sources = &planned.plan.sources;
    let nodes: Vec<_> = planned
        .plan
        .stages
        .iter()
        .flat_map(|s| s.node_words(sources))
        .collect();
    out.push_str(&format!(
        "nodes {}; names {}",
        nodes.join(" "),
        planned.schema.join(" ")
    ));
    for step in &planned.plan.stages {
        if let Stage::Window(w) | Stage::WindowAggregate(w, _) = &step.stage {
            out.push_str(&format!(
                "; keep {:?} of {}",
                w.keep, planned.plan.source_cols
            ));
        }
    }
    if planned.plan.uses_row_context {
        out.push_str("; row context");
    }
    out.push('\n');
    out
}

fn plan(line: &str) -> String {
    let (flags, sql) = line.split_once("] ").unwrap_or(("", line));
    let options = RuleOptions {
        is_event_time: flags.contains("event"),
        late_tolerance_ms: if flags.contains("event") { 1000 } else { 0 },
        send_meta_to_sink: flags.contains("meta"),
        force_buffered: flags.contains("buffered"),
        ..RuleOptions::default()
    };
    let select = match parse_select(sql) {
        Ok(select) => select,
        Err(e) => return format!("{}\n", e.render(sql)),
    };
    match plan_rule(&select, &streams(), &options) {
        Ok(planned) => told(&planned),
        Err(e) => format!("{}\n", e.render(sql)),
    }
}

#[test]
fn plans_as_written_down() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plans.txt");
    let written = std::fs::read_to_string(path).expect("plans.txt");
    let statements: Vec<&str> = written
        .lines()
        .filter_map(|l| l.strip_prefix("> "))
        .collect();
    assert!(
        statements.len() >= 30,
        "only {} statements",
        statements.len()
    );
    let mut now = String::new();
    for line in &statements {
        now.push_str(&format!("> {line}\n{}\n", plan(line)));
    }
    if std::env::var_os("UPDATE_PLANS").is_some() {
        std::fs::write(path, &now).expect("plans.txt");
    } else {
        assert_eq!(written, now);
    }
}
