//! The recorded answers of the SQL dialect, in-process: every way of handing rows over gives them.

use rekuiper_testkit::sqlcase::{Mode, cases, check, run, same};
use serde_json::json;

const WHOLE: Mode = Mode { batch: 1024, buffered: false, reload_after: None };

/// As many rows at once as fit, of seven and of one, with aggregates and with rows kept; and the
/// rule stopped after each of the first rows, going on from what it saved.
fn modes() -> Vec<Mode> {
    let mut modes = Vec::new();
    for buffered in [false, true] {
        modes.extend([1024, 7, 1].map(|batch| Mode { batch, buffered, reload_after: None }));
        let stopped = |at| Mode { batch: 1, buffered, reload_after: Some(at) };
        modes.extend((1..=9).map(stopped));
        modes.push(Mode { batch: 2, buffered, reload_after: Some(2) });
        modes.push(Mode { batch: 7, buffered, reload_after: Some(1) });
    }
    modes
}

/// `besides`: cases whose recorded answer is not ours or not one of this crate, and why. They must
/// still differ, and the modes must agree on them as well.
fn all(file: &str, text: &str, at_least: usize, besides: &[(&str, &str)]) {
    let (cases, modes) = (cases(text), modes());
    assert!(cases.len() >= at_least, "{file}: only {} cases", cases.len());
    let mut failed = Vec::new();
    for case in &cases {
        let name = case["name"].as_str().unwrap_or("");
        let wrong = match besides.iter().find(|(listed, _)| *listed == name) {
            None => modes.iter().find_map(|mode| check(case, *mode).map(|text| (*mode, text))),
            Some(_) if check(case, WHOLE).is_none() => {
                Some((WHOLE, "as recorded now: unlist it".to_owned()))
            }
            Some(_) => {
                let whole = json!(run(case, WHOLE).ok());
                let other = |mode: &Mode| json!(run(case, *mode).ok());
                let differs = modes.iter().find(|mode| !same(&whole, &other(mode)));
                differs.map(|mode| (*mode, format!("whole {whole}\n  here  {}", other(mode))))
            }
        };
        if let Some((mode, text)) = wrong {
            let input = case["streams"].to_string();
            let input: String = input.chars().take(900).collect();
            failed.push(format!("{name} {mode:?}\n  {}\n  in   {input}\n  {text}", case["sql"]));
        }
    }
    for (listed, _) in besides.iter().filter(|(l, _)| cases.iter().all(|c| c["name"] != *l)) {
        failed.push(format!("{listed} is listed, but is no case"));
    }
    println!("{file}: {} cases in {} modes", cases.len(), modes.len());
    assert!(failed.is_empty(), "{file}: {} failed\n{}", failed.len(), failed.join("\n"));
}

macro_rules! files {
    ($($name:ident $at_least:literal $([$($listed:literal $why:literal),*])?;)*) => {
        $(#[test]
        fn $name() {
            let text = include_str!(concat!("../../../tests/sql/", stringify!($name), ".jsonl"));
            all(stringify!($name), text, $at_least, &[$($(($listed, $why)),*)?]);
        })*
    };
}

// What sinks do to rows is of no concern to plan and operators: those cases are compared with what
// was recorded in `server/tests/sql_golden.rs`.
files! {
    windows 143 [
        "hop_larger_than_length" "the recorded answer has lost a row of the last window",
        "hop_ms" "the recorded answer has lost a row of the last window"
    ];
    aggregates 157 [
        "empty_window_omit" "the sink leaves out what is empty",
        "empty_window_agg_omit" "the sink leaves out what is empty"
    ];
    analytic 138 ["changed_col_omit_single" "the sink leaves out what is empty"];
    joins 73;
    tables 32 [
        "scan_right_only_stream_triggers" "RIGHT keeps the rows of the joined side, however ON is put"
    ];
    order_having 58 ["order_expr" "sorted by the first key first"];
    deviations_stateful 92;
    deviations_scalar 61;
    expressions 201 ["text_after_semicolon_ignored" "a second statement is refused, not ignored"];
    operators 165;
    superset 14;
    own 53 [
        "int64_template" "the sink writes by a template",
        "send_error_texts_stand_where_they_came_up" "errors are sent by the running rule",
        "template_text_functions" "the sink writes by a template",
        "template_numbers" "the sink writes by a template",
        "template_lists" "the sink writes by a template",
        "template_objects" "the sink writes by a template",
        "template_flow" "the sink writes by a template",
        "template_with_define" "the sink writes by a template",
        "omit_if_empty_rows" "the sink leaves out what is empty",
        "error_of_a_projection_is_one_row" "errors are sent by the running rule"
    ];
    functions_array 140;
    functions_datetime 161;
    functions_hashing 45;
    functions_json 76;
    functions_math 235;
    functions_object 65;
    functions_other 55;
    functions_string 156;
    functions_transform 84;
    sinks 52 [
        "fields_pick" "the sink picks fields",
        "fields_missing" "the sink picks fields",
        "fields_window" "the sink picks fields",
        "exclude_fields" "the sink leaves out fields",
        "exclude_window" "the sink leaves out fields",
        "fields_and_exclude_refused" "the sink refuses these options together",
        "data_field_object" "the sink sends one field",
        "data_field_window" "the sink sends one field",
        "data_field_scalar" "the sink sends one field",
        "data_field_missing" "the sink sends one field",
        "data_field_and_fields" "the sink sends one field",
        "data_field_array" "the sink sends one field",
        "data_field_single" "the sink sends one field",
        "single_window" "the sink sends row by row",
        "single_fields" "the sink picks fields",
        "tpl_index" "the sink writes by a template",
        "tpl_single" "the sink writes by a template",
        "tpl_json_whole" "the sink writes by a template",
        "tpl_tojson" "the sink writes by a template",
        "tpl_if_else" "the sink writes by a template",
        "tpl_missing_value" "the sink writes by a template",
        "tpl_upper_pipe" "the sink writes by a template",
        "tpl_nested_value" "the sink writes by a template",
        "tpl_with_fields" "the sink writes by a template",
        "tpl_bad_refused" "the sink refuses its template",
        "tpl_unknown_func_refused" "the sink refuses its template",
        "tpl_base64" "the sink writes by a template",
        "tpl_b64enc" "the sink writes by a template",
        "tpl_add" "the sink writes by a template",
        "omit_empty_window" "the sink leaves out what is empty",
        "option_bad_type_refused" "the kind of an option is checked by the server"
    ];
}
