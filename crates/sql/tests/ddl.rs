//! Every recorded DDL case, against a catalog that is no more than a list.

mod support;

use rekuiper_sql::{Described, Statement, StreamDef, StreamKind, parse_statement};
use serde_json::Value;
use support::{Case, cases};

#[derive(Default)]
struct Catalog(Vec<StreamDef>);

impl Catalog {
    fn named(&self, name: &str) -> Option<&StreamDef> {
        self.0.iter().find(|d| d.name == name)
    }

    fn find(&self, what: &Described) -> Result<&StreamDef, String> {
        let found = self.named(&what.name).filter(|d| d.kind == what.kind);
        found.ok_or_else(|| format!("{} {} is not there", what.kind.title(), what.name))
    }

    /// The reply to a statement, or why it is refused.
    fn run(&mut self, sql: &str) -> Result<String, String> {
        match parse_statement(sql).map_err(|e| e.render(sql))? {
            Statement::Create(def) => {
                def.validate(|t| t == "memory")?;
                if self.named(&def.name).is_some() {
                    return Err(format!("{} is there already", def.name));
                }
                let reply = format!("{} {} is created.", def.kind.title(), def.name);
                self.0.push(*def);
                Ok(reply)
            }
            Statement::Show(kind) => {
                let of_kind = self.0.iter().filter(|d| d.kind == kind);
                Ok(of_kind.map(|d| format!("{}\n", d.name)).collect())
            }
            Statement::Describe(what) => Ok(self.find(&what)?.describe()),
            Statement::Explain(what) => self.find(&what).map(|_| "TO BE SUPPORTED".into()),
            Statement::Drop(what) => {
                self.find(&what)?;
                self.0.retain(|d| d.name != what.name);
                Ok(format!("{} {} is dropped.", what.kind.title(), what.name))
            }
            Statement::Select(_) => Err("a SELECT defines no stream".into()),
        }
    }
}

/// What is wrong with a case; empty where all is as recorded.
fn check(case: &Case) -> Vec<String> {
    let mut catalog = Catalog::default();
    for setup in case.strings("setup") {
        catalog.run(&setup).expect("a setup statement is accepted");
    }
    let reply = catalog.run(&case.text("ddl").expect("DDL"));
    let mut wrong = Vec::new();
    if let Some(want) = case.accept()
        && want != reply.is_ok()
    {
        wrong.push(format!("accept: want {want}, got {reply:?}"));
    }
    let Ok(reply) = reply else { return wrong };
    let mut same = |key: &str, got: Value| {
        if let Some(want) = case.json.get(key)
            && *want != got
        {
            wrong.push(format!("{key}: want {want}, got {got}"));
        }
    };
    same("reply", reply.into());
    if let Some(made) = case.json["makes"].as_str() {
        let (kind, name) = made.split_once('/').expect("kind/name");
        let kind = if kind == "tables" {
            StreamKind::Table
        } else {
            StreamKind::Stream
        };
        let def = catalog.named(name).filter(|d| d.kind == kind);
        same("gone", def.is_none().into());
        if let Some(def) = def {
            same("describe", def.to_json());
            // With a SCHEMAID the schema comes from elsewhere.
            if def.options.schema_id.is_none() {
                same("schema", def.schema_json());
            }
        }
    }
    wrong
}

fn run_all(all: Vec<Case>, at_least: usize) {
    let mut failed = Vec::new();
    let mut done = 0;
    for case in all.iter().filter(|c| c.text("ddl").is_some()) {
        done += 1;
        for line in check(case) {
            failed.push(format!("{}: {line}", case.name));
        }
    }
    println!("{done} DDL cases");
    assert!(
        failed.is_empty(),
        "{} wrong:\n{}",
        failed.len(),
        failed.join("\n")
    );
    assert!(done >= at_least, "only {done} cases were read");
}

#[test]
fn ddl_cases_as_recorded() {
    run_all(cases(include_str!("cases/ddl.jsonl")), 315);
}

#[test]
fn ddl_deviations_as_they_ought_to_be() {
    run_all(cases(include_str!("cases/deviations_grammar.jsonl")), 15);
}

#[test]
fn nested_types_are_told_in_one_line() {
    let mut catalog = Catalog::default();
    catalog
        .run("CREATE STREAM s (a ARRAY(STRUCT(x BIGINT, y STRING)), b FLOAT DEFAULT 1e2) WITH ()")
        .expect("accepted");
    let text = catalog.run("DESCRIBE STREAM s").expect("described");
    let want = "\na\tarray(struct(x bigint, y string))\nb\tfloat\tDEFAULT\t100\n\n";
    assert!(text.contains(want), "{text}");
}
