//! Any text: no panic, no hang; a statement that parses prints to one that parses to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rekuiper_sql::{parse_select, parse_statement};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match parse_select(text) {
        Ok(select) => {
            let printed = select.to_string();
            let again = parse_select(&printed)
                .unwrap_or_else(|e| panic!("{printed:?} does not parse: {}", e.render(&printed)));
            assert!(again == select, "{printed:?} means something else");
        }
        Err(error) => {
            // the place in the text must be one
            let _ = error.render(text);
        }
    }
    if let Err(error) = parse_statement(text) {
        let _ = error.render(text);
    }
});
