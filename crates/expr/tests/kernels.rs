//! The batch kernels give exactly what the row interpreter gives: on random conditions and
//! arithmetic over random columns with cells of all kinds.

use bytes::Bytes;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use rekuiper_expr::truth;
use rekuiper_expr::{
    ArithOp, BitOp, CmpOp, Deep, Env, Expr, Frame, LikePattern, NumExpr, Predicate,
};
use rekuiper_functions::{Cx, NoHost, RowTimes};
use rekuiper_value::{Cell, CellKind, Column, Value};

const COLS: u16 = 5;

/// A cell as the scanner would make it: its kind and its bytes.
fn cell() -> impl Strategy<Value = (CellKind, String)> {
    prop_oneof![
        1 => Just((CellKind::Missing, String::new())),
        1 => Just((CellKind::Null, "null".to_owned())),
        1 => Just((CellKind::True, "true".to_owned())),
        1 => Just((CellKind::False, "false".to_owned())),
        8 => (-50i64..50).prop_map(|i| (CellKind::Int, i.to_string())),
        5 => (-50i32..50, 1..10).prop_map(|(i, d)| (CellKind::Decimal, format!("{i}.{d}"))),
        1 => prop_oneof![
            Just("1e2"), Just("9007199254740993"), Just("-0"), Just("1.50"), Just("1e400"),
            Just("9223372036854775807"), Just("123456789012345678901234567890"),
        ].prop_map(|s| (CellKind::Number, s.to_owned())),
        4 => prop_oneof![Just(""), Just("a"), Just("ab"), Just("世")]
            .prop_map(|s| (CellKind::Plain, s.to_owned())),
        1 => prop_oneof![Just("a\\n"), Just("\\u0061")]
            .prop_map(|s| (CellKind::Escaped, s.to_owned())),
        1 => prop_oneof![Just("[1,2]"), Just("[]"), Just("[\"a\",null]")]
            .prop_map(|s| (CellKind::Array, s.to_owned())),
        1 => Just((CellKind::Object, "{\"k\":1}".to_owned())),
    ]
}

/// Cells of one kind alone, so that whole-column loops run as well.
fn numbers() -> impl Strategy<Value = (CellKind, String)> {
    prop_oneof![
        (-50i64..50).prop_map(|i| (CellKind::Int, i.to_string())),
        (-400i32..400).prop_map(|i| (CellKind::Decimal, format!("{}.5", i))),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Missing),
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-20i64..20).prop_map(Value::Int),
        (-20i64..20).prop_map(|i| Value::Float(i as f64 / 4.0)),
        Just(Value::Float(f64::NAN)),
        Just(Value::Wide(9_007_199_254_740_993)),
        Just(Value::Int(i64::MAX)),
        prop_oneof![Just("a"), Just("ab"), Just("")].prop_map(Value::from),
        Just(Value::array(vec![Value::Int(1), Value::from("a")])),
    ]
}

fn of_cells(cells: Vec<(CellKind, String)>, ints: bool) -> Column {
    let mut bytes = Vec::new();
    let made = cells
        .into_iter()
        .map(|(kind, text)| {
            let at = bytes.len();
            bytes.extend_from_slice(text.as_bytes());
            Cell::new(kind, at, text.len())
        })
        .collect();
    Column::cells(Bytes::from(bytes), made, ints)
}

fn column(rows: usize) -> impl Strategy<Value = Column> {
    prop_oneof![
        3 => (prop::collection::vec(cell(), rows), any::<bool>()).prop_map(|(c, i)| of_cells(c, i)),
        3 => (prop::collection::vec(numbers(), rows), any::<bool>())
            .prop_map(|(c, i)| of_cells(c, i)),
        2 => prop::collection::vec(value(), rows).prop_map(Column::values),
        1 => value().prop_map(move |v| Column::constant(v, rows)),
    ]
}

fn literal() -> impl Strategy<Value = Expr> {
    value()
        .prop_filter("literals are there", |v| !v.is_missing())
        .prop_map(Expr::Lit)
}

fn cmp_op() -> impl Strategy<Value = CmpOp> {
    prop::sample::select(vec![
        CmpOp::Eq,
        CmpOp::Ne,
        CmpOp::Lt,
        CmpOp::Le,
        CmpOp::Gt,
        CmpOp::Ge,
    ])
}

fn arith_op() -> impl Strategy<Value = ArithOp> {
    prop::sample::select(vec![
        ArithOp::Add,
        ArithOp::Sub,
        ArithOp::Mul,
        ArithOp::Div,
        ArithOp::Mod,
    ])
}

/// One more than the columns there are, so that absent ones are read too.
fn col() -> impl Strategy<Value = Expr> {
    (0..COLS + 1).prop_map(Expr::Col)
}

fn number() -> impl Strategy<Value = Expr> {
    prop_oneof![3 => col(), 2 => literal()].prop_recursive(4, 16, 2, |inner| {
        prop_oneof![
            6 => (arith_op(), inner.clone(), inner.clone())
                .prop_map(|(op, a, b)| Expr::arith(op, a, b)),
            1 => inner.clone().prop_map(|e| Expr::Neg(Box::new(e))),
            1 => inner.clone().prop_map(|e| Expr::Deep(Deep::new(e))),
            1 => (inner.clone(), inner)
                .prop_map(|(a, b)| Expr::Bit(BitOp::Xor, Box::new((a, b)))),
        ]
    })
}

fn condition() -> impl Strategy<Value = Expr> {
    let simple = prop_oneof![
        4 => (cmp_op(), col(), literal()).prop_map(|(op, a, b)| Expr::cmp(op, a, b)),
        2 => (cmp_op(), literal(), col()).prop_map(|(op, a, b)| Expr::cmp(op, a, b)),
        2 => (cmp_op(), number(), number()).prop_map(|(op, a, b)| Expr::cmp(op, a, b)),
        1 => (number(), number(), number(), any::<bool>())
            .prop_map(|(v, a, b, not)| Expr::Between { args: Box::new((v, a, b)), not }),
        1 => (col(), prop::collection::vec(literal(), 1..4), any::<bool>())
            .prop_map(|(v, items, not)| Expr::InList {
                value: Box::new(v), items: items.into(), not,
            }),
        1 => (col(), col(), any::<bool>())
            .prop_map(|(v, a, not)| Expr::InArray { args: Box::new((v, a)), not }),
        1 => (col(), any::<bool>()).prop_map(|(v, not)| Expr::Like {
            value: Box::new(v), pattern: Box::new(LikePattern::new("a%")), not,
        }),
        1 => (col(), any::<bool>())
            .prop_map(|(v, not)| Expr::IsNull { value: Box::new(v), not }),
        1 => Just(Expr::FirstOf(Box::new([0, 1, 2]))),
        1 => number(),
    ];
    simple.prop_recursive(4, 24, 2, |inner| {
        prop_oneof![
            4 => (inner.clone(), inner.clone()).prop_map(|(a, b)| Expr::and(a, b)),
            2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| Expr::or(a, b)),
            1 => inner.clone().prop_map(|e| Expr::Not(Box::new(e))),
            1 => inner.prop_map(|e| Expr::Deep(Deep::new(e))),
        ]
    })
}

fn frame() -> impl Strategy<Value = (Vec<Column>, usize)> {
    (1usize..12).prop_flat_map(|rows| {
        (
            prop::collection::vec(column(rows), usize::from(COLS)),
            Just(rows),
        )
    })
}

fn with_env<R>(cols: &[Column], rows: usize, f: impl FnOnce(Env<'_>) -> R) -> R {
    let frame = Frame::new(cols, rows);
    let zone = TimeZone::UTC;
    let cx = Cx {
        now_ms: 0,
        rule_id: "r",
        rule_start: 0,
        zone: &zone,
        row: RowTimes::default(),
        host: &NoHost,
    };
    f(Env {
        frame: &frame,
        cx: &cx,
    })
}

/// Kept rows, and the rows lost with their errors.
type Kept = (Vec<u32>, Vec<(u32, String)>);

fn by_rows(e: &Expr, env: Env<'_>, rows: usize) -> Kept {
    let (mut kept, mut lost) = (Vec::new(), Vec::new());
    for row in 0..rows {
        match truth(e, env, row) {
            Ok(true) => kept.push(row as u32),
            Ok(false) => {}
            Err(e) => lost.push((row as u32, e.to_string())),
        }
    }
    (kept, lost)
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => {
            a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
        }
        _ => std::mem::discriminant(a) == std::mem::discriminant(b) && a == b,
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn a_predicate_keeps_the_rows_for_which_the_condition_holds(
        e in condition(), (cols, rows) in frame(),
    ) {
        with_env(&cols, rows, |env| {
            let want = by_rows(&e, env, rows);
            let (mut kept, mut lost): Kept = ((0..rows as u32).collect(), Vec::new());
            Predicate::new(e.clone()).select(env, &mut kept, &mut |row, e| {
                lost.push((row, e.to_string()));
            });
            lost.sort();
            prop_assert_eq!(&want, &(kept, lost));
            Ok(())
        })?;
    }

    #[test]
    fn a_number_kernel_gives_the_value_of_the_expression(
        e in number(), (cols, rows) in frame(),
    ) {
        let Some(fast) = NumExpr::of(&e) else { return Ok(()) };
        with_env(&cols, rows, |env| {
            if !fast.applies(env) {
                return Ok(());
            }
            for row in 0..rows {
                let slow = e.eval(env, row);
                match (fast.at(env, row), &slow) {
                    (Some(f), Ok(v)) => prop_assert!(same(&Value::Float(f), v), "{f} and {v:?}"),
                    (None, Err(_)) => {}
                    (fast, slow) => prop_assert!(false, "{fast:?} and {slow:?}"),
                }
            }
            Ok(())
        })?;
    }
}
