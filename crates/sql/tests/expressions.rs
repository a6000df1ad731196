//! What expressions mean, told by the printer with every pair of parentheses written out.

use rekuiper_sql::{Expr, ExprKind, parse_expr, parse_item, parse_select};

/// The expression with parentheses around each operator.
fn shape(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Paren(inner) => shape(inner),
        ExprKind::Unary { op, expr } => format!("({op:?} {})", shape(expr)),
        ExprKind::Binary { op, left, right } => {
            format!("({} {} {})", shape(left), op.sign(), shape(right))
        }
        ExprKind::Between {
            expr,
            low,
            high,
            not,
        } => {
            let word = if *not { "NOT BETWEEN" } else { "BETWEEN" };
            format!(
                "({} {word} {} AND {})",
                shape(expr),
                shape(low),
                shape(high)
            )
        }
        ExprKind::Like { expr, pattern, .. } => {
            format!("({} LIKE {})", shape(expr), shape(pattern))
        }
        ExprKind::IsNull { expr, not } => {
            format!(
                "({} IS{} NULL)",
                shape(expr),
                if *not { " NOT" } else { "" }
            )
        }
        ExprKind::Member { base, name, .. } => format!("{}->{name}", shape(base)),
        ExprKind::Index { base, index } => format!("{}[{}]", shape(base), shape(index)),
        _ => e.to_string(),
    }
}

#[track_caller]
fn means(sql: &str, want: &str) {
    match parse_expr(sql) {
        Ok(e) => assert_eq!(shape(&e), want, "{sql}"),
        Err(e) => panic!("{}", e.render(sql)),
    }
}

#[track_caller]
fn refused(sql: &str) -> String {
    match parse_expr(sql) {
        Ok(e) => panic!("{sql} was taken as {e}"),
        Err(e) => e.to_string(),
    }
}

#[test]
fn operators_bind_as_in_the_manual() {
    means("2 + 3 & 1", "(2 + (3 & 1))");
    means("7 ^ 2 + 1", "((7 ^ 2) + 1)");
    means("16 / 4 / 2", "((16 / 4) / 2)");
    means("3 > 2 = true", "((3 > 2) = TRUE)");
    means(
        "a = 1 OR b = 2 AND c = 3",
        "((a = 1) OR ((b = 2) AND (c = 3)))",
    );
    means(
        "a + 1 BETWEEN 1 AND 5 OR e",
        "(((a + 1) BETWEEN 1 AND 5) OR e)",
    );
    means(
        "a BETWEEN 1 + 1 AND 2 * 3 AND b",
        "((a BETWEEN (1 + 1) AND (2 * 3)) AND b)",
    );
    means(
        "a NOT BETWEEN o->x AND r[0]",
        "(a NOT BETWEEN o->x AND r[0])",
    );
    means("a LIKE b + \"%\" = c", "((a LIKE (b + \"%\")) = c)");
}

#[test]
fn access_binds_tightest() {
    means("2 * o->x", "(2 * o->x)");
    means("2 * r[0]", "(2 * r[0])");
    means("-o->x", "(Neg o->x)");
    means("a.b.c->d[1]", "a.b->c->d[1]");
}

#[test]
fn signs_and_not() {
    means("- 5", "-5");
    means("+5", "5");
    means("a - -5", "(a - -5)");
    means("a -.5", "(a - 0.5)");
    means("a-1", "(a - 1)");
    means("-(a + 1) * 2", "((Neg (a + 1)) * 2)");
    means("- - a", "(Neg (Neg a))");
    means("-9223372036854775808", "-9223372036854775808");
    means("NOT a > 0 AND b = false", "((Not (a > 0)) AND (b = FALSE))");
    means("NOT a IS NOT NULL", "(Not (a IS NOT NULL))");
    means("NOT NOT a", "(Not (Not a))");
    refused("9223372036854775808");
    refused("-9223372036854775809");
    refused("a = NOT b");
    refused("a + NOT b");
}

#[test]
fn superset_operators() {
    means("a <> 1", "(a != 1)");
    means("a == 1", "(a = 1)");
    means("a ! = 1", "(a != 1)");
    means("o - > x", "o->x");
    means("1.5E-3 + 1e5", "(0.0015 + 100000.0)");
    means("is IS NULL", "(is IS NULL)");
    assert!(refused("a ! 1").contains("!="));
    refused("a | | b");
    refused("a << 1");
    refused("a IN (1) + 1");
    refused("b AND a IS NULL * 2");
}

#[test]
fn columns_members_and_stars() {
    let e = parse_expr("a.b").expect("parses");
    assert!(matches!(&e.kind, ExprKind::Column { qualifier: Some(q), .. } if q == "a"));
    assert_eq!(parse_expr("a.b").expect("parses").natural_name(), Some("b"));
    assert_eq!(
        parse_expr("Count(*)").expect("parses").natural_name(),
        Some("count")
    );
    assert_eq!(parse_expr("(a)").expect("parses").natural_name(), None);
    assert_eq!(parse_expr("a->b").expect("parses").natural_name(), None);
    for sql in ["* + 1", "*.a", "a.*.b", "1 + *", "a.b.*", "* AS x"] {
        assert!(parse_item(sql).is_err(), "{sql}");
    }
    means("a->1", "a[1]");
    assert_eq!(parse_item("* EXCEPT()").expect("parses").to_string(), "*");
    let item = parse_item("m.* EXCEPT(a) REPLACE(b + 1 AS b)").expect("parses");
    assert_eq!(item.to_string(), "m.* EXCEPT(a) REPLACE(b + 1 AS b)");
}

#[test]
fn spans_point_into_the_text() {
    let sql = "SELECT a, abs(b - 1) AS x FROM s AS t GROUP BY a, tumblingwindow(ss, 10)";
    let select = parse_select(sql).expect("parses");
    assert_eq!(select.items[1].expr.span.of(sql), "abs(b - 1)");
    assert_eq!(select.from.span.of(sql), "s AS t");
    let (window, span) = select.window().expect("a window");
    assert_eq!(span.of(sql), "tumblingwindow(ss, 10)");
    assert_eq!(window.args.len(), 2);
    assert_eq!(select.dimensions().count(), 1);
}

#[test]
fn strings_have_the_escapes_of_go() {
    let text = |sql: &str| match parse_expr(sql).map(Expr::into_kind) {
        Ok(ExprKind::Str(s)) => s.to_string(),
        other => panic!("{sql}: {other:?}"),
    };
    assert_eq!(
        text(r#""a\tb\\\"\x41\101\u00e9\U0001F600""#),
        "a\tb\\\"AAé😀"
    );
    assert_eq!(text(r#"'a\''"#), "a'");
    assert_eq!(text(r#"'a\'"'"#), "a'\"");
    assert_eq!(text(r#""\xff""#), "\u{fffd}");
    for bad in [
        r#""\d""#,
        r#""\400""#,
        r#""\ud800""#,
        r#""\u+123""#,
        r#""it\'s""#,
        r#""\"#,
    ] {
        refused(bad);
    }
}

#[test]
fn windows_are_checked_where_they_stand() {
    let ok = |w: &str| parse_select(&format!("SELECT count(*) FROM s GROUP BY {w}")).is_ok();
    for good in [
        "TumblingWindow(SS, 10)",
        "slidingwindow(ss, 10, 0)",
        "countwindow(5, 5)",
        "a, statewindow(a > 1, a < 0) FILTER(WHERE b) OVER(WHEN c PARTITION BY d, e)",
    ] {
        assert!(ok(good), "{good}");
    }
    for bad in [
        "a",
        "hoppingwindow(ss, 10, 0)",
        "countwindow(5, 6)",
        "countwindow(2), countwindow(2)",
        "(countwindow(2))",
        "countwindow(2) + 1",
        "tumblingwindow(ss, (10))",
        "abs(countwindow(2)), countwindow(2)",
    ] {
        assert!(!ok(bad), "{bad}");
    }
}
