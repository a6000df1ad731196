//! For any text: no panic. For any statement: what is printed parses to the same.

use proptest::prelude::*;
use rekuiper_sql::{parse_expr, parse_item, parse_select, parse_statement};

const PIECES: &[&str] = &[
    "SELECT",
    "AS",
    "FROM",
    "WHERE",
    "AND",
    "OR",
    "GROUP",
    "BY",
    "HAVING",
    "ORDER",
    "DESC",
    "ASC",
    "FILTER",
    "INNER",
    "LEFT",
    "CROSS",
    "JOIN",
    "ON",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "IN",
    "NOT",
    "BETWEEN",
    "LIKE",
    "OVER",
    "PARTITION",
    "REPLACE",
    "EXCEPT",
    "INVISIBLE",
    "LIMIT",
    "TRUE",
    "ss",
    "is",
    "null",
    "a",
    "b",
    "meter",
    "`x y`",
    "``",
    "`",
    "count",
    "tumblingwindow",
    "countwindow",
    "statewindow",
    "1",
    "0",
    "2.5",
    ".5",
    "1e5",
    "9223372036854775808",
    "\"s\"",
    "'t'",
    "\"\\n\"",
    "\"",
    "'",
    "\\",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "|",
    "^",
    "=",
    "!=",
    "<",
    "<=",
    ">",
    "<>",
    "->",
    ".",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    ";",
    "#",
    "--",
    "/*",
    "*/",
    "\n",
    "\0",
    "é",
    "温",
    "CREATE",
    "STREAM",
    "TABLE",
    "WITH",
    "SHOW",
    "STREAMS",
    "DESCRIBE",
    "DROP",
    "EXPLAIN",
    "BIGINT",
    "ARRAY",
    "STRUCT",
    "DEFAULT",
    "TYPE",
    "FORMAT",
    "\"json\"",
    "RETAIN_SIZE",
];

/// Everything a text may be given to, and whatever comes of it.
fn try_all(text: &str) {
    if let Err(e) = parse_statement(text) {
        let _ = e.render(text);
    }
    let _ = parse_item(text);
    if let Ok(select) = parse_select(text) {
        let printed = select.to_string();
        match parse_select(&printed) {
            Ok(again) => assert!(again == select, "{text}\n{printed}"),
            Err(e) => panic!("{text}\n{}", e.render(&printed)),
        }
    }
    if let Ok(expr) = parse_expr(text) {
        let printed = expr.to_string();
        match parse_expr(&printed) {
            Ok(again) => assert!(again == expr, "{text}\n{printed}"),
            Err(e) => panic!("{text}\n{}", e.render(&printed)),
        }
    }
}

/// A text with blanks between some of the pieces.
fn soup(pieces: &[(&str, bool)]) -> String {
    let one = |(piece, gap): &(&str, bool)| format!("{piece}{}", if *gap { " " } else { "" });
    pieces.iter().map(one).collect()
}

/// A clause, or nothing.
fn clause(word: &str, rest: Option<String>) -> String {
    rest.map(|e| format!(" {word} {e}")).unwrap_or_default()
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z][a-z0-9_]{0,5}".prop_filter("not reserved", |s| parse_expr(s)
            .is_ok_and(|e| matches!(e.kind, rekuiper_sql::ExprKind::Column { .. }))),
        "`[a-zA-Z温é .\"'0-9-]{1,6}`",
    ]
}

fn literal() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>()
            .prop_filter("finite", |n| n.is_finite())
            .prop_map(|n| format!("{n:?}")),
        any::<String>().prop_map(|s| format!("\"{}\"", escape(&s))),
        Just("TRUE".to_string()),
        Just("mi".to_string()),
    ]
}

fn escape(s: &str) -> String {
    s.chars()
        .map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            c if c.is_control() => format!("\\u{:04x}", c as u32),
            c => c.to_string(),
        })
        .collect()
}

/// Random expressions as text, operators with and without parentheses.
fn expr() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        3 => name(),
        1 => (name(), name()).prop_map(|(a, b)| format!("{a}.{b}")),
        2 => literal(),
    ];
    leaf.prop_recursive(6, 64, 4, |e| {
        let ops = prop::sample::select(vec![
            "+", "-", "*", "/", "%", "&", "|", "^", "=", "!=", "<>", "==", "<", "<=", ">", ">=",
            "AND", "OR",
        ]);
        prop_oneof![
            4 => (e.clone(), ops, e.clone()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
            2 => e.clone().prop_map(|a| format!("({a})")),
            1 => e.clone().prop_map(|a| format!("- {a}")),
            1 => e.clone().prop_map(|a| format!("(NOT {a})")),
            1 => (e.clone(), e.clone(), e.clone())
                .prop_map(|(a, b, c)| format!("({a}) NOT BETWEEN ({b}) AND ({c})")),
            1 => (e.clone(), prop::collection::vec(e.clone(), 1..3))
                .prop_map(|(a, l)| format!("({a}) IN ({})", l.join(", "))),
            1 => (e.clone(), e.clone()).prop_map(|(a, b)| format!("({a}) NOT LIKE ({b})")),
            1 => e.clone().prop_map(|a| format!("({a}) IS NOT NULL")),
            1 => (e.clone(), name()).prop_map(|(a, n)| format!("({a})->{n}")),
            1 => (e.clone(), e.clone()).prop_map(|(a, b)| format!("({a})[{b}]")),
            1 => (name(), e.clone()).prop_map(|(a, b)| format!("{a}[{b}:]")),
            1 => (e.clone(), e.clone(), e.clone())
                .prop_map(|(a, b, c)| format!("CASE {a} WHEN {b} THEN {c} END")),
            1 => (e.clone(), e.clone())
                .prop_map(|(a, b)| format!("CASE WHEN ({a}) = 1 THEN {b} ELSE 0 END")),
            1 => (name(), prop::collection::vec(e.clone(), 0..3))
                .prop_map(|(f, l)| format!("{f}({})", l.join(", "))),
            1 => (name(), e.clone(), e)
                .prop_map(|(f, a, b)| format!("{f}(*) OVER (PARTITION BY {a} WHEN {b})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_survived(text in any::<String>()) {
        try_all(&text);
    }

    #[test]
    fn any_soup_of_tokens_is_survived(
        pieces in prop::collection::vec((prop::sample::select(PIECES), any::<bool>()), 0..40)
    ) {
        let text = soup(&pieces);
        try_all(&text);
        try_all(&format!("SELECT a FROM b {text}"));
        try_all(&format!("SELECT {text} FROM b"));
        try_all(&format!("CREATE STREAM a ({text}"));
        try_all(&format!("CREATE STREAM a () WITH ({text})"));
    }

    #[test]
    fn expressions_survive_printing(text in expr()) {
        // Some are no legal expressions (NOT below an operator, `[2:1]`); most are.
        try_all(&text);
    }

    #[test]
    fn statements_survive_printing(
        items in prop::collection::vec((expr(), prop::option::of(name()), any::<bool>()), 1..4),
        condition in prop::option::of(expr()),
        having in prop::option::of(expr()),
        limit in prop::option::of(any::<u32>()),
    ) {
        let items: Vec<String> = items
            .into_iter()
            .map(|(e, alias, hidden)| {
                let alias = alias.map(|a| format!(" AS {a}")).unwrap_or_default();
                format!("{e}{alias}{}", if hidden { " INVISIBLE" } else { "" })
            })
            .collect();
        let text = format!(
            "SELECT {} FROM s AS t LEFT JOIN u ON t.a = u.a{} \
             GROUP BY x, slidingwindow(ss, 10) FILTER(WHERE y > 1) OVER(WHEN z){} \
             ORDER BY x DESC{}",
            items.join(", "),
            clause("WHERE", condition),
            clause("HAVING", having),
            clause("LIMIT", limit.map(|n| n.to_string())),
        );
        try_all(&text);
    }
}
