//! Refusals say where, what and what instead.

use rekuiper_sql::{parse_select, parse_statement};

#[track_caller]
fn told(sql: &str) -> String {
    parse_statement(sql).expect_err("refused").render(sql)
}

#[test]
fn line_column_and_caret() {
    let text = told("SELECT a,\n  b total\nFROM s");
    let want = "line 2, column 5: `total` cannot stand here; expected AS, `,` or FROM\n  \
                \u{20}   b total\n      \u{20}   ^^^^^";
    // Two blanks of margin, then the line as it stands.
    assert_eq!(
        text,
        want.replace("\u{20}   b", "  b").replace("\u{20}   ^", "^")
    );
}

#[test]
fn columns_count_characters() {
    let text = told("SELECT `温度` ? FROM s");
    assert!(text.starts_with("line 1, column 13: "), "{text}");
    assert!(text.ends_with("\n              ^"), "{text}");
}

#[test]
fn the_end_of_the_text_has_a_place_too() {
    let text = told("SELECT a FROM s WHERE");
    assert!(
        text.contains("line 1, column 22: the statement ends too early"),
        "{text}"
    );
}

#[test]
fn long_lines_are_cut() {
    let sql = format!("SELECT {} ? FROM s", "a + ".repeat(1000));
    let text = told(&sql);
    assert!(text.len() < 400, "{text}");
    assert!(text.contains("..."), "{text}");
}

#[test]
fn hints_name_the_way_out() {
    for (sql, hint) in [
        ("SELECT order FROM s", "`order`"),
        ("SELECT * FROM a b", "an alias needs AS"),
        ("SELECT * FROM dash-ed", "backquotes"),
        ("SELECT * FROM s JOIN t ON a = b", "INNER JOIN"),
        (
            "SELECT a FROM s LIMIT 1 WHERE a",
            "the order FROM, JOIN, WHERE",
        ),
        ("SELECT a FROM s; SELECT b FROM s", "one statement only"),
        ("SELECT \"\\d\" FROM s", "write a backslash as \\\\"),
        ("SELECT a FROM s GROUP BY a", "tumblingwindow(ss, 10)"),
        ("CREATE STREAM s () WITH (CONFKEY=\"x\")", "CONF_KEY"),
        ("CREATE STREAM s () WITH (FORMAT=\"xml\")", "json, binary"),
        ("CREATE STREAM s (a INT) WITH ()", "BIGINT"),
        ("ALTER STREAM s", "CREATE"),
        ("", "SELECT"),
    ] {
        let text = told(sql);
        assert!(text.contains(hint), "{sql}\n{text}");
    }
}

#[test]
fn rendering_never_fails_on_another_text() {
    let e = parse_select("SELECT a FROM s WHERE ???").expect_err("refused");
    assert!(e.render("é").contains('^'));
    assert!(e.render("").contains('^'));
}
