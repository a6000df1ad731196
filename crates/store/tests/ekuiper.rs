//! A database that a real eKuiper 2.4 wrote.

use std::path::Path;

use rekuiper_store::import_ekuiper;
use serde_json::json;

#[test]
fn everything_is_read_and_the_original_untouched() {
    let db = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/ekuiper-sqliteKV.db");
    let before = std::fs::read(&db).unwrap();
    let scratch = std::env::temp_dir().join(format!("rekuiper-import-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).unwrap();
    let all = import_ekuiper::read(&db, &scratch).unwrap();
    assert_eq!(std::fs::read(&db).unwrap(), before);
    assert_eq!(
        std::fs::read_dir(&scratch).unwrap().count(),
        0,
        "the copy is gone"
    );
    std::fs::remove_dir_all(&scratch).unwrap();

    assert!(all.unreadable.is_empty(), "{:?}", all.unreadable);
    let streams: Vec<&str> = all.of("stream").map(|(k, _)| k).collect();
    assert_eq!(streams, ["meters", "press", "raw", "sites"]);
    let rules: Vec<&str> = all.of("rule").map(|(k, _)| k).collect();
    assert_eq!(rules, ["enrich", "hot_lines", "stopped_one"]);
    let plant = all
        .of("confKVStorage")
        .find(|(k, _)| *k == "sources.mqtt.plant")
        .unwrap()
        .1;
    let want = json!({"server": "tcp://127.0.0.1:1", "qos": 1, "username": "reader"});
    assert_eq!(plant, &want);
}
