//! Lookup joins whose table has a cache: what is asked, and what is answered, as the clock goes on.

use std::sync::{Arc, Mutex};

use rekuiper_ops::lookup::{CacheOptions, LookupTable, Lookups};
use rekuiper_testkit::sqlcase::timed_with;
use rekuiper_value::{Error, Object, Result, Str, Value, json};
use serde_json::{Value as Json, json};

/// A table of rows with `id` and `name`; the name counts the questions, so that a kept answer can
/// be told from a new one. It has the ids 1 and "1", two rows for 5, and fails for 9.
#[derive(Default)]
struct Table {
    asked: Mutex<Vec<String>>,
}

impl LookupTable for Table {
    fn find(&self, keys: &[(Str, Value)]) -> Result<Vec<Arc<Object>>> {
        let text: Vec<String> =
            keys.iter().map(|(_, v)| json::to_string(v).unwrap_or_default()).collect();
        let mut asked = self.asked.lock().expect("no panic");
        asked.push(text.join(" "));
        let row = |name: String| {
            Arc::new(Object::from([
                (Str::from("id"), keys[0].1.clone()),
                (Str::from("name"), Value::from(name)),
            ]))
        };
        match text[0].as_str() {
            "9" => Err(Error::new("the table is away")),
            "5" => Ok(vec![row(format!("a{}", asked.len())), row(format!("b{}", asked.len()))]),
            "1" | "\"1\"" => Ok(vec![row(format!("n{}", asked.len()))]),
            _ => Ok(vec![]),
        }
    }
}

const INNER: &str = "SELECT v, name FROM demo INNER JOIN tab ON demo.id = tab.id";
const LEFT: &str = "SELECT v, name FROM demo LEFT JOIN tab ON demo.id = tab.id";

/// Rows come as (moment, id) and are numbered by `v`; gives the rows out and the keys asked for.
fn run(sql: &str, cache: Option<CacheOptions>, rows: &[(i64, Json)]) -> (Json, Vec<String>) {
    let number = |(v, (at, id)): (usize, &(i64, Json))| json!({"at": at, "id": id, "v": v});
    let input: Vec<Json> = rows.iter().enumerate().map(number).collect();
    let case = json!({
        "streams": [
            {"name": "demo", "fields": "", "input": input},
            {"name": "tab", "fields": "", "kind": "TABLE",
             "with": "TYPE=\"memory\", KIND=\"lookup\", KEY=\"id\""}
        ],
        "sql": sql, "begin": 0
    });
    let table = Arc::new(Table::default());
    let lookups = |name: &str| {
        (name == "tab").then(|| Lookups { table: table.clone(), cache })
    };
    let out = timed_with(&case, 1_000_000, 0, &lookups).expect("accepted");
    let asked = table.asked.lock().expect("no panic").clone();
    (Json::from(out), asked)
}

fn cache(ttl_ms: i64, missing: bool) -> Option<CacheOptions> {
    Some(CacheOptions { ttl_ms, missing, ..CacheOptions::default() })
}

fn at(moments: &[i64], id: i64) -> Vec<(i64, Json)> {
    moments.iter().map(|t| (*t, json!(id))).collect()
}

#[test]
fn without_a_cache_every_row_asks() {
    let (out, asked) = run(INNER, None, &at(&[0, 0, 500], 1));
    assert_eq!(asked, ["1", "1", "1"]);
    let want = json!([[{"v": 0, "name": "n1"}], [{"v": 1, "name": "n2"}], [{"v": 2, "name": "n3"}]]);
    assert_eq!(out, want);
}

#[test]
fn an_answer_without_ttl_holds_for_ever() {
    let (out, asked) = run(INNER, cache(0, false), &at(&[0, 1, 999_999], 1));
    assert_eq!(asked, ["1"]);
    let want = json!([[{"v": 0, "name": "n1"}], [{"v": 1, "name": "n1"}], [{"v": 2, "name": "n1"}]]);
    assert_eq!(out, want);
}

#[test]
fn a_ttl_is_counted_from_the_answer_not_from_its_use() {
    let (out, asked) = run(INNER, cache(1000, false), &at(&[0, 600, 999, 1000, 1999, 2000], 1));
    assert_eq!(asked, ["1", "1", "1"]);
    let names: Vec<&Json> = out.as_array().expect("a list").iter().map(|e| &e[0]["name"]).collect();
    assert_eq!(names, ["n1", "n1", "n1", "n2", "n2", "n3"]);
}

#[test]
fn nothing_found_is_kept_only_with_cache_missing_key() {
    let rows = at(&[0, 10, 20], 7);
    let (out, asked) = run(INNER, cache(0, false), &rows);
    assert_eq!((out, asked.len()), (json!([]), 3));
    let (out, asked) = run(INNER, cache(0, true), &rows);
    assert_eq!((out, asked.len()), (json!([]), 1));
    let (out, asked) = run(LEFT, cache(15, true), &rows);
    assert_eq!(out, json!([[{"v": 0}], [{"v": 1}], [{"v": 2}]]));
    assert_eq!(asked.len(), 2, "asked again after the ttl");
}

#[test]
fn all_rows_of_an_answer_are_kept() {
    let (out, asked) = run(INNER, cache(0, false), &at(&[0, 10], 5));
    assert_eq!(asked, ["5"]);
    let rows = |v: i64| json!([{"v": v, "name": "a1"}, {"v": v, "name": "b1"}]);
    assert_eq!(out, json!([rows(0), rows(1)]));
}

#[test]
fn keys_of_other_kinds_have_answers_of_their_own() {
    let rows = [(0, json!(1)), (1, json!("1")), (2, json!(1)), (3, json!("1"))];
    let (_, asked) = run(INNER, cache(0, false), &rows);
    assert_eq!(asked, ["1", "\"1\""]);
}

#[test]
fn a_null_key_asks_nothing_and_a_failure_is_not_kept() {
    let rows = [(0, json!(null)), (1, json!(9)), (2, json!(9)), (3, json!(null))];
    let (out, asked) = run(LEFT, cache(0, true), &rows);
    assert_eq!(asked, ["9", "9"]);
    assert_eq!(out, json!([[{"v": 0}], [{"v": 3}]]), "the rows that could not be looked up are lost");
}

#[test]
fn conditions_beside_the_key_see_kept_answers() {
    let sql = "SELECT v, name FROM demo LEFT JOIN tab ON demo.id = tab.id AND tab.name != \"n1\"";
    let (out, asked) = run(sql, cache(100, false), &at(&[0, 50, 100], 1));
    assert_eq!(asked.len(), 2);
    assert_eq!(out, json!([[{"v": 0}], [{"v": 1}], [{"v": 2, "name": "n2"}]]));
}

#[test]
fn a_full_cache_stays_within_its_bound_and_right() {
    let small = Some(CacheOptions { ttl_ms: 0, missing: true, capacity: 4 });
    let row = |i| (i, json!(if i % 2 == 0 { 1 } else { i }));
    let rows: Vec<(i64, Json)> = (0..40).map(row).collect();
    let (out, asked) = run(INNER, small, &rows);
    let hits = out.as_array().expect("a list").iter().filter(|e| e[0]["name"].is_string()).count();
    // the even ones, the row 1, and 5 whose two rows come in one emission; 9 fails
    assert_eq!(hits, 22);
    assert!(asked.len() < 40, "nothing was kept: {}", asked.len());
    let none = Some(CacheOptions { capacity: 0, ..CacheOptions::default() });
    assert_eq!(run(INNER, none, &at(&[0, 1], 1)).1.len(), 2);
}
