//! Large and deep statements, on the 2 MB stack a thread has.

use std::time::Instant;

use rekuiper_sql::{MAX_DEPTH, MAX_NESTING, parse_select, parse_statement, roomy};

/// Runs `f` on a thread of its own with a 2 MB stack, whatever the test runner gives.
fn small_stack(f: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(f)
        .expect("a thread");
    thread.join().expect("no panic");
}

fn nest(open: &str, n: usize, middle: &str, close: &str) -> String {
    format!(
        "SELECT {}{middle}{} AS x FROM s",
        open.repeat(n),
        close.repeat(n)
    )
}

/// Parses, copies, compares, shows, prints and parses again.
fn full_round(sql: &str) {
    let select = parse_select(sql).unwrap_or_else(|e| panic!("{}", e.render(sql)));
    let copy = select.clone();
    assert!(copy == select);
    assert!(!format!("{select:?}").is_empty());
    let again = parse_select(&select.to_string()).expect("what is printed parses");
    assert!(again == select);
}

#[test]
fn what_must_be_accepted() {
    small_stack(|| {
        full_round(&nest("(", 2000, "a", ")"));
        full_round(&nest("(", 2000, "a", " + 1)"));
        full_round(&nest("(1 + ", 2000, "a", ")"));
        full_round(&nest("abs(", 1000, "a", ")"));
        full_round(&nest("abs(", 2000, "a", ")"));
        full_round(&nest("CASE WHEN a > 1 THEN 1 ELSE ", 500, "0", " END"));
        full_round(&nest("r[", 2000, "0", "]"));
        full_round(&nest("a IN (", 2000, "b", ")"));
        full_round(&nest("NOT ", 2000, "a", ""));
        full_round(&nest("- ", 2000, "a", ""));
        full_round(&format!("SELECT a{} AS x FROM s", " + 1".repeat(5000)));
        full_round(&format!(
            "SELECT a{} AS x FROM s",
            " AND b = 1".repeat(5000)
        ));
        full_round(&format!("SELECT a{} AS x FROM s", "->k[0].m".repeat(1500)));
        let columns: Vec<String> = (0..10_000).map(|i| format!("c{i}")).collect();
        full_round(&format!("SELECT {} FROM s", columns.join(", ")));
        full_round(&format!(
            "SELECT \"{}\" AS x FROM s",
            "0123456789".repeat(10_000)
        ));
        full_round(&format!(
            "SELECT a FROM s WHERE a IN (0{})",
            ", 1".repeat(100_000)
        ));
    });
}

#[test]
fn what_is_too_deep_is_refused_cleanly() {
    small_stack(|| {
        let over = MAX_NESTING as usize + 1;
        for sql in [
            nest("(", over, "a", ")"),
            nest("(", 3_000_000, "a", ")"),
            nest("(", 20_000, "", ""),
            nest("abs(", 200_000, "a", ")"),
            nest("NOT ", 200_000, "a", ""),
            nest("- ", 200_000, "a", ""),
            nest("CASE WHEN ", 200_000, "a", ""),
            nest("r[", 200_000, "a", "]"),
            nest("a IN (", 200_000, "a", ")"),
            format!("SELECT a{} FROM s", " + 1".repeat(MAX_DEPTH as usize + 1)),
            format!("SELECT a{} FROM s", " + 1".repeat(250_000)),
            format!("SELECT a{} FROM s", "->k".repeat(250_000)),
            // As deep as nesting allows, with a chain at each level.
            nest("(1 + 2 * 3 + ", 2400, "a", " = 1 AND b OR c)"),
        ] {
            let e = parse_select(&sql).expect_err("too deep");
            assert!(
                e.message.contains("nested") || e.message.contains("ends"),
                "{e}"
            );
            assert!(e.render(&sql).len() < 1000);
        }
        // What was built so far is dropped wherever the parser stands.
        for closed in (0..2400).step_by(100) {
            let sql = nest("(1 + ", 2400, "a", "") + &" + 2)".repeat(closed) + " ?";
            assert!(parse_select(&sql).is_err());
        }
    });
}

#[test]
fn deep_types() {
    small_stack(|| {
        let ddl = |n: usize, open: &str| {
            format!(
                "CREATE STREAM s (a {}BIGINT{}) WITH ()",
                open.repeat(n),
                ")".repeat(n)
            )
        };
        for open in ["ARRAY(", "STRUCT(f "] {
            let parsed = parse_statement(&ddl(2000, open)).expect("accepted");
            assert!(parsed.clone() == parsed);
            let rekuiper_sql::Statement::Create(def) = parsed else {
                panic!("no CREATE")
            };
            assert!(def.describe().len() > 10_000);
            let json = roomy(|| def.to_json().to_string() + &def.schema_json().to_string());
            assert!(json.len() > 10_000);
            assert!(parse_statement(&ddl(20_000, open)).is_err());
            // What was built so far is dropped wherever the parser stands.
            for closed in (0..2400).step_by(100) {
                let (open, close) = (open.repeat(2400), ")".repeat(closed));
                let sql = format!("CREATE STREAM s (a {open}BIGINT{close} ?");
                assert!(parse_statement(&sql).is_err());
            }
        }
    });
}

/// Twice the text takes about twice the time; a ratio, so that the machine does not matter.
#[test]
fn time_grows_with_the_length_only() {
    let sizes = [100_000usize, 1_000_000];
    let texts: [fn(usize) -> String; 6] = [
        |n| format!("SELECT a{} FROM s", ", b".repeat(n / 3)),
        |n| format!("SELECT a FROM s WHERE a IN (1{})", ", 12".repeat(n / 4)),
        |n| format!("SELECT a{} FROM s", " /* x */".repeat(n / 8)),
        |n| format!("SELECT a FROM s WHERE {}", "! ".repeat(n / 2)),
        |n| format!("SELECT \"{}\" FROM s", "\\n".repeat(n / 2)),
        |n| format!("SELECT {} FROM s", "(".repeat(n)),
    ];
    for text in texts {
        let cost = |n: usize| {
            let sql = text(n);
            (0..3)
                .map(|_| {
                    let start = Instant::now();
                    let _ = std::hint::black_box(parse_select(&sql));
                    start.elapsed().as_secs_f64()
                })
                .fold(f64::MAX, f64::min)
        };
        let (small, large) = (cost(sizes[0]), cost(sizes[1]));
        // Ten times is linear, a hundred times quadratic; a floor keeps out the clock's grain.
        assert!(large < 40.0 * small.max(0.002), "{small} s, then {large} s");
    }
}
