//! Statements made of pieces of recorded ones: planned or refused, never a panic, and what is
//! planned holds together.

mod support;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use proptest::prelude::*;
use rekuiper_plan::physical::{OutItem, RulePlan, Stage};
use rekuiper_plan::{RuleOptions, plan_rule};
use rekuiper_sql::parse_select;
use support::{Streams, cases, statement};

fn streams() -> Streams {
    let mut all = Streams::default();
    for ddl in [
        "CREATE STREAM meter (a BIGINT, b STRING, c FLOAT, d DATETIME, e BOOLEAN, \
         arr ARRAY(BIGINT), obj STRUCT(x BIGINT)) WITH (DATASOURCE=\"m\", TIMESTAMP=\"a\")",
        "CREATE STREAM feed () WITH (DATASOURCE=\"f\", TIMESTAMP=\"ts\")",
        "CREATE STREAM valve (a BIGINT, k STRING, ts BIGINT) \
         WITH (DATASOURCE=\"v\", TIMESTAMP=\"ts\")",
        "CREATE TABLE site (a BIGINT, label STRING) WITH (DATASOURCE=\"s\", TIMESTAMP=\"a\")",
        "CREATE TABLE desk (a BIGINT, owner STRING) \
         WITH (DATASOURCE=\"d\", TYPE=\"memory\", KIND=\"lookup\", KEY=\"a\")",
    ] {
        all.create(ddl).expect(ddl);
    }
    all
}

/// The words of every recorded statement.
fn statements() -> &'static Vec<Vec<String>> {
    static ALL: OnceLock<Vec<Vec<String>>> = OnceLock::new();
    ALL.get_or_init(|| {
        cases(include_str!("cases/select.jsonl"))
            .iter()
            .filter(|c| c.get("sql").is_some())
            .map(|c| statement(c).split(' ').map(str::to_owned).collect())
            .collect()
    })
}

/// One statement with a few words gone, doubled, or taken from another.
fn mutated() -> impl Strategy<Value = (String, bool, bool)> {
    let edit = (
        any::<prop::sample::Index>(),
        0..3u8,
        any::<prop::sample::Index>(),
    );
    let edits = prop::collection::vec(edit, 0..4);
    let pick = any::<prop::sample::Index>;
    (pick(), pick(), edits, any::<bool>(), any::<bool>()).prop_map(
        |(first, second, edits, event, buffered)| {
            let all = statements();
            let mut words = all[first.index(all.len())].clone();
            let other = &all[second.index(all.len())];
            for (at, what, from) in edits {
                if words.is_empty() {
                    break;
                }
                let at = at.index(words.len());
                match what {
                    0 => drop(words.remove(at)),
                    1 => words.insert(at, words[from.index(words.len())].clone()),
                    _ => words[at] = other[from.index(other.len())].clone(),
                }
            }
            (words.join(" "), event, buffered)
        },
    )
}

/// Columns that are computed, each once, and after all of the sources'.
fn check(plan: &RulePlan) -> Result<(), TestCaseError> {
    let mut made = BTreeSet::new();
    let mut note = |col: u16| {
        prop_assert!(
            usize::from(col) >= plan.source_cols,
            "column {col} is a source's"
        );
        prop_assert!(
            usize::from(col) < plan.cols,
            "column {col} of {}",
            plan.cols
        );
        prop_assert!(made.insert(col), "column {col} is made twice");
        Ok(())
    };
    for step in &plan.stages {
        match &step.stage {
            Stage::Analytic(calls) => calls.iter().try_for_each(|c| note(c.col))?,
            Stage::Aggregate(a) | Stage::WindowAggregate(_, a) => {
                a.calls.iter().try_for_each(|c| note(c.col))?;
            }
            Stage::AggregateColumns(calls) => calls.iter().try_for_each(|c| note(c.col))?,
            Stage::RowNumber(r) => note(r.col)?,
            Stage::Unnest(u) => note(u.col)?,
            _ => {}
        }
    }
    for item in &plan.projection.items {
        if let OutItem::Field { expr, .. } = item {
            let mut all_known = true;
            expr.each_col(&mut |c| all_known &= usize::from(c) < plan.cols);
            prop_assert!(all_known, "{expr:?} reads beyond {} columns", plan.cols);
        }
    }
    let read: usize = plan.sources.iter().map(|s| s.fields.len()).sum();
    prop_assert_eq!(read, plan.source_cols);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4000, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn planned_or_refused((sql, is_event_time, force_buffered) in mutated()) {
        let Ok(select) = parse_select(&sql) else { return Ok(()) };
        let options = RuleOptions { is_event_time, force_buffered, ..RuleOptions::default() };
        match plan_rule(&select, &streams(), &options) {
            Ok(planned) => {
                let told = planned.explain.text();
                prop_assert!(told.lines().count() >= 2, "{told}");
                check(&planned.plan)?;
            }
            Err(e) => prop_assert!(!e.render(&sql).is_empty()),
        }
    }
}
