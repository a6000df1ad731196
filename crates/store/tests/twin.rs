//! Random changes, reopened now and then, against a map that must say the same.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rekuiper_store::{Batch, Durability, Store};

#[derive(Debug, Clone)]
enum Step {
    Put(u8, u8, Vec<u8>),
    Delete(u8, u8),
    Clear(u8),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..3u8, 0..12u8, proptest::collection::vec(any::<u8>(), 0..20))
            .prop_map(|(s, k, v)| Step::Put(s, k, v)),
        3 => (0..3u8, 0..12u8).prop_map(|(s, k)| Step::Delete(s, k)),
        1 => (0..3u8).prop_map(Step::Clear),
        1 => Just(Step::Reopen),
    ]
}

fn groups() -> impl Strategy<Value = Vec<Vec<Step>>> {
    proptest::collection::vec(proptest::collection::vec(step(), 1..6), 1..20)
}

fn folder(name: &str) -> std::path::PathBuf {
    let n = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_nanos();
    let p = std::env::temp_dir().join(format!("rekuiper-store-{name}-{}-{n}", std::process::id()));
    std::fs::create_dir_all(&p).unwrap();
    p
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn equals_a_map(steps in groups()) {
        let dir = folder("twin");
        let path = dir.join("t.db");
        let mut store = Store::open(&path, Durability::Process).unwrap();
        let mut twin: BTreeMap<(String, String), Vec<u8>> = BTreeMap::new();
        for group in steps {
            let mut batch = Batch::new();
            for s in group {
                match s {
                    Step::Put(s, k, v) => {
                        batch = batch.put(&format!("s{s}"), &format!("k{k}"), v.clone());
                        twin.insert((format!("s{s}"), format!("k{k}")), v);
                    }
                    Step::Delete(s, k) => {
                        batch = batch.delete(&format!("s{s}"), &format!("k{k}"));
                        twin.remove(&(format!("s{s}"), format!("k{k}")));
                    }
                    Step::Clear(s) => {
                        batch = batch.clear(&format!("s{s}"));
                        twin.retain(|(space, _), _| *space != format!("s{s}"));
                    }
                    Step::Reopen => {
                        store.write(std::mem::take(&mut batch)).unwrap();
                        drop(store);
                        store = Store::open(&path, Durability::Process).unwrap();
                    }
                }
            }
            store.write(batch).unwrap();
            for s in 0..3u8 {
                let space = format!("s{s}");
                let want: Vec<(String, Vec<u8>)> = twin.iter()
                    .filter(|((sp, _), _)| *sp == space)
                    .map(|((_, k), v)| (k.clone(), v.clone()))
                    .collect();
                prop_assert_eq!(store.scan(&space).unwrap(), want);
            }
        }
        drop(store);
        std::fs::remove_dir_all(dir).unwrap();
    }
}

#[test]
fn answers_after_the_write_is_kept() {
    let dir = folder("kept");
    let path = dir.join("t.db");
    let store = Store::open(&path, Durability::Power).unwrap();
    store.write(Batch::new().put("a", "k", "v")).unwrap();
    // A second connection sees it before the first is closed.
    let other = Store::open(&path, Durability::Power).unwrap();
    assert_eq!(other.get("a", "k").unwrap().as_deref(), Some(&b"v"[..]));
    assert_eq!(other.get("a", "none").unwrap(), None);
    drop((store, other));
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn many_writers_share_a_flush_and_all_are_answered() {
    let dir = folder("many");
    let store = Store::open(&dir.join("t.db"), Durability::Power).unwrap();
    let (tx, rx) = std::sync::mpsc::channel();
    for i in 0..500 {
        let tx = tx.clone();
        let batch = Batch::new().put("a", &format!("{i:04}"), "v");
        store.submit(batch, Box::new(move |r| tx.send(r.is_ok()).unwrap()));
    }
    drop(tx);
    assert_eq!(rx.iter().filter(|ok| *ok).count(), 500);
    assert_eq!(store.scan("a").unwrap().len(), 500);
    drop(store);
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_file_that_is_no_store_is_refused() {
    let dir = folder("bad");
    let path = dir.join("t.db");
    std::fs::write(&path, vec![b'x'; 5000]).unwrap();
    assert!(Store::open(&path, Durability::Process).is_err());
    std::fs::remove_dir_all(dir).unwrap();
}
