//! Files in, messages and rows out.

use serde_json::json;

use super::source::open;
use crate::testing::{Folder, World, error_of, props, source_of, texts};
use crate::{ConnectError, Fault};

async fn read(
    folder: &Folder,
    name: &str,
    mut conf: serde_json::Value,
) -> (Vec<String>, Result<(), ConnectError>) {
    conf["path"] = json!(folder.path());
    let source = source_of(open(name, &props(conf)));
    World::new().run(source).until_end().await
}

async fn rows(folder: &Folder, name: &str, conf: serde_json::Value) -> Vec<String> {
    let (rows, end) = read(folder, name, conf).await;
    end.unwrap();
    rows
}

#[tokio::test]
async fn lines_end_with_the_file() {
    let f = Folder::new();
    f.write("a", "one\r\ntwo\n\nfour");
    assert_eq!(rows(&f, "a", json!({"fileType": "lines"})).await, ["one", "two", "", "four"]);
    let cut = json!({"fileType": "lines", "ignoreStartLines": 1, "ignoreEndLines": 1});
    assert_eq!(rows(&f, "a", cut).await, ["two", ""]);
    let all = json!({"fileType": "lines", "ignoreStartLines": 9, "ignoreEndLines": -1});
    assert!(rows(&f, "a", all).await.is_empty());
}

#[tokio::test]
async fn lines_over_several_reads_keep_order_and_share_the_buffer() {
    let f = Folder::new();
    let lines: Vec<String> =
        (0..20_000).map(|n| format!("{n}:{}", "x".repeat(n % 97))).collect();
    f.write("a", lines.join("\n"));
    assert_eq!(rows(&f, "a", json!({"fileType": "lines"})).await, lines);
    let cut = json!({"fileType": "lines", "ignoreStartLines": 15_000, "ignoreEndLines": 4_998});
    assert_eq!(rows(&f, "a", cut).await, lines[15_000..15_002]);
    let long = format!("{}\nshort\n", "y".repeat(1 << 20));
    f.write("long", &long);
    let got = rows(&f, "long", json!({"fileType": "lines"})).await;
    assert_eq!(got.iter().map(String::len).collect::<Vec<_>>(), [1 << 20, 5]);
}

#[tokio::test]
async fn batches_hold_at_most_1024_messages_and_name_their_file() {
    let f = Folder::new();
    f.write("a", "x\n".repeat(3000));
    let source = source_of(open("a", &props(json!({"fileType": "lines", "path": f.path()}))));
    let mut running = World::new().run(source);
    let first = running.batch().await;
    assert_eq!(first.len(), 1024);
    let name = first.meta.as_ref().unwrap().get("file").unwrap().as_str().unwrap().to_string();
    assert_eq!(name, format!("{}/a", f.path()));
    assert_eq!(running.batch().await.len() + running.batch().await.len(), 3000 - 1024);
    assert_eq!(running.status.state(), 1);
}

#[tokio::test]
async fn csv_rows() {
    let f = Folder::new();
    f.write("a", "id,name\n1, \"x, y\"\n2\n\n3,z,extra\n");
    let conf = json!({"fileType": "csv", "hasHeader": true});
    let want = [r#"{"id":"1","name":"x, y"}"#, r#"{"id":"2"}"#, r#"{"id":"3","name":"z"}"#];
    assert_eq!(rows(&f, "a", conf).await, want);
    f.write("b", "skipped \"\n1;2\n3;4\n");
    let conf = json!({"fileType": "csv", "delimiter": ";", "ignoreStartLines": 1});
    let want = [r#"{"cols0":"1","cols1":"2"}"#, r#"{"cols0":"3","cols1":"4"}"#];
    assert_eq!(rows(&f, "b", conf.clone()).await, want);
    let mut named = conf;
    named["columns"] = json!(["p", "q"]);
    named["ignoreEndLines"] = json!(1);
    assert_eq!(rows(&f, "b", named).await, [r#"{"p":"1","q":"2"}"#]);
    let many: String = (0..50_000).map(|n| format!("{n},\"a\nb\"\n")).collect();
    f.write("many", many);
    let got = rows(&f, "many", json!({"fileType": "csv"})).await;
    assert_eq!(got.len(), 50_000);
    assert_eq!(got[49_999], r#"{"cols0":"49999","cols1":"a\nb"}"#);
}

#[tokio::test]
async fn whole_files() {
    let f = Folder::new();
    f.write("a", "[{\"a\":1},\n{\"a\":2}]");
    assert_eq!(rows(&f, "a", json!({})).await, ["[{\"a\":1},\n{\"a\":2}]"]);
    f.write("b", "any\nthing");
    assert_eq!(rows(&f, "b", json!({"fileType": "text"})).await, ["any\nthing"]);
    f.write("empty", "");
    assert!(rows(&f, "empty", json!({})).await.is_empty());
    let mut packed = Vec::new();
    let gzip = rekuiper_formats::codec::Compression::Gzip;
    gzip.compress(b"{\"a\":3}", Default::default(), &mut packed).unwrap();
    f.write("z", packed);
    assert_eq!(rows(&f, "z", json!({"decompression": "gzip"})).await, ["{\"a\":3}"]);
    let (none, end) = read(&f, "a", json!({"decompression": "gzip"})).await;
    assert!(none.is_empty());
    assert!(end.unwrap_err().text.contains("decompress"));
}

#[tokio::test]
async fn pauses_between_rows_and_between_elements() {
    let f = Folder::new();
    f.write("a", "1\n2\n");
    f.write("j", "[{\"a\":1}, {\"a\":2}]");
    for (name, kind, want) in
        [("a", "lines", ["1", "2"]), ("j", "json", ["{\"a\":1}", " {\"a\":2}"])]
    {
        let conf = json!({"fileType": kind, "path": f.path(), "sendInterval": "150ms"});
        let world = World::new();
        let mut running = world.run(source_of(open(name, &props(conf))));
        let first = running.batch().await;
        assert_eq!((texts(&first), first.ts), (vec![want[0].to_string()], 1_000_000));
        assert!(running.is_silent().await);
        world.hand.advance(150);
        let second = running.batch().await;
        assert_eq!((texts(&second), second.ts), (vec![want[1].to_string()], 1_000_150));
        world.hand.advance(150);
        assert!(running.until_end().await.1.is_ok());
    }
}

#[tokio::test]
async fn read_again_every_interval() {
    let f = Folder::new();
    f.write("a", "1\n");
    let conf = json!({"fileType": "lines", "path": f.path(), "interval": "2s"});
    let world = World::new();
    let mut running = world.run(source_of(open("a", &props(conf))));
    assert_eq!(running.texts().await, ["1"]);
    f.write("a", "2\n");
    world.hand.advance(2000);
    assert_eq!(running.texts().await, ["2"]);
    std::fs::remove_file(f.0.join("a")).unwrap();
    world.hand.advance(2000);
    assert!(running.error().await.contains("/a: "));
    f.write("a", "3\n");
    world.hand.advance(2000);
    assert_eq!(running.texts().await, ["3"]);
}

#[tokio::test]
async fn folders_are_read_and_watched() {
    let f = Folder::new();
    let dir = f.0.join("in");
    std::fs::create_dir_all(dir.join("sub")).unwrap();
    let at = |name: &str, text: &str, secs: u64| {
        std::fs::write(dir.join(name), text).unwrap();
        let file = std::fs::File::options().append(true).open(dir.join(name)).unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(secs);
        file.set_modified(time).unwrap();
    };
    at("b", "first\n", 1000);
    at("a", "second\n", 2000);
    let conf = json!({"fileType": "lines", "path": f.path()});
    let world = World::new();
    let mut running = world.run(source_of(open("in", &props(conf))));
    assert_eq!(running.texts().await, ["first"]);
    assert_eq!(running.texts().await, ["second"]);
    at("old", "older than what was read\n", 1500);
    at("c", "third\n", 3000);
    assert!(running.is_silent().await);
    world.hand.advance(500);
    assert!(running.is_silent().await, "a new file is left alone until it has settled");
    assert_eq!(running.texts_later(&world.hand, 500).await, ["third"]);
    at("a", "second again\n", 4000);
    assert!(running.is_silent().await);
    assert_eq!(running.texts_later(&world.hand, 500).await, ["second again"]);
}

#[tokio::test]
async fn after_reading_a_file_may_go() {
    let f = Folder::new();
    f.write("a", "1\n");
    let to = f.0.join("done/deep");
    let conf = json!({"fileType": "lines", "actionAfterRead": 2, "moveTo": to.to_str()});
    assert_eq!(rows(&f, "a", conf).await, ["1"]);
    assert_eq!(std::fs::read_to_string(to.join("a")).unwrap(), "1\n");
    f.write("b", "1\n");
    rows(&f, "b", json!({"fileType": "lines", "actionAfterRead": 1})).await;
    assert!(!f.0.join("b").exists());
}

#[tokio::test]
async fn refused_when_the_rule_is_made() {
    let f = Folder::new();
    f.write("a", "1\n");
    let text = |name: &str, mut conf: serde_json::Value| {
        conf["path"] = json!(f.path());
        let error = error_of(open(name, &props(conf)));
        assert_eq!(error.fault, Fault::Config);
        error.text
    };
    assert!(text("none", json!({})).contains("/none not exist"));
    assert!(text("a", json!({"actionAfterRead": 3})).contains("0 (keep)"));
    assert!(text("a", json!({"actionAfterRead": 2})).contains("moveTo"));
    let packed = json!({"fileType": "lines", "decompression": "gzip"});
    assert!(text("a", packed).contains("decompression is not supported for lines file type"));
    assert!(text("a", json!({"decompression": "rar"})).contains("zstd"));
    assert!(text("a", json!({"interval": "soon"})).contains("duration"));
    let world = World::at(f.0.clone());
    let relative = source_of(open("nowhere", &props(json!({"path": "sub"}))));
    assert_eq!(relative.check(&world.services).unwrap_err().fault, Fault::Config);
    let relative = source_of(open("a", &props(json!({"path": "."}))));
    relative.check(&world.services).unwrap();
}
