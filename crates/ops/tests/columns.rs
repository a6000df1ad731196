//! Results as columns are what the same results are as objects: on random select lists over random
//! columns, whenever there are columns at all.

use bytes::Bytes;
use jiff::tz::TimeZone;
use proptest::collection::vec;
use proptest::prelude::*;
use rekuiper_expr::{ArithOp, Env, Expr, Frame};
use rekuiper_functions::{Cx, NoHost, RowTimes};
use rekuiper_ops::Projection;
use rekuiper_plan::physical::{OutItem, OutNulls, ProjectionPlan};
use rekuiper_value::{Cell, CellKind, Column, Value, json};

const COLS: u16 = 3;
const ROWS: usize = 6;

fn cell() -> impl Strategy<Value = (CellKind, String)> {
    prop_oneof![
        1 => Just((CellKind::Missing, String::new())),
        1 => Just((CellKind::Null, "null".to_owned())),
        4 => Just((CellKind::True, "true".to_owned())),
        8 => (-50i64..50).prop_map(|i| (CellKind::Int, i.to_string())),
        6 => (-50i32..50, 1..10).prop_map(|(i, d)| (CellKind::Decimal, format!("{i}.{d}"))),
        2 => prop_oneof![Just("1e2"), Just("1e308"), Just("9007199254740993")]
            .prop_map(|s| (CellKind::Number, s.to_owned())),
        6 => "[a-c]{0,2}".prop_map(|s| (CellKind::Plain, s)),
        2 => Just((CellKind::Escaped, "a\\n".to_owned())),
        2 => Just((CellKind::Array, "[1,\"a\"]".to_owned())),
        2 => Just((CellKind::Object, "{\"k\":1}".to_owned())),
    ]
}

fn number() -> impl Strategy<Value = (CellKind, String)> {
    prop_oneof![
        (-50i64..50).prop_map(|i| (CellKind::Int, i.to_string())),
        (-400i32..400).prop_map(|i| (CellKind::Decimal, format!("{i}.5"))),
    ]
}

fn of_cells(cells: Vec<(CellKind, String)>, ints: bool) -> Column {
    let mut bytes = Vec::new();
    let mut made = Vec::new();
    for (kind, text) in cells {
        made.push(Cell::new(kind, bytes.len(), text.len()));
        bytes.extend_from_slice(text.as_bytes());
    }
    Column::cells(Bytes::from(bytes), made, ints)
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::Missing),
        1 => Just(Value::Null),
        4 => any::<bool>().prop_map(Value::Bool),
        6 => (-20i64..20).prop_map(Value::Int),
        6 => (-20i64..20).prop_map(|i| Value::Float(i as f64 / 4.0)),
        2 => Just(Value::Float(1e308)),
        4 => Just(Value::from("text")),
    ]
}

fn column() -> impl Strategy<Value = Column> {
    prop_oneof![
        (vec(cell(), ROWS), any::<bool>()).prop_map(|(c, i)| of_cells(c, i)),
        (vec(number(), ROWS), any::<bool>()).prop_map(|(c, i)| of_cells(c, i)),
        vec(-50i64..50, ROWS).prop_map(Column::whole_numbers),
        vec(-50.0..50.0f64, ROWS).prop_map(Column::floats),
        // what they give is often no finite number
        vec(prop::sample::select(vec![0.0, 1e308, -1e308]), ROWS).prop_map(Column::floats),
        vec(value(), ROWS).prop_map(Column::values),
        value().prop_map(|v| Column::constant(v, ROWS)),
    ]
}

/// One more than the columns there are, so that absent ones are read too.
fn expr() -> impl Strategy<Value = Expr> {
    let col = || (0..COLS + 1).prop_map(Expr::Col);
    let operand = || prop_oneof![col(), (-9i64..9).prop_map(|i| Expr::Lit(Value::Int(i)))];
    let op = prop::sample::select(vec![ArithOp::Add, ArithOp::Sub, ArithOp::Mul, ArithOp::Div]);
    prop_oneof![
        2 => col(),
        2 => (op, operand(), operand()).prop_map(|(op, a, b)| Expr::Arith(op, Box::new((a, b)))),
    ]
}

/// A computed item, or a literal one.
#[derive(Clone, Debug)]
enum What {
    Field(Expr, OutNulls),
    Const(Value),
}

/// Items with whether each has a name of its own.
fn items() -> impl Strategy<Value = Vec<(What, bool)>> {
    let nulls = || {
        prop::sample::select(vec![OutNulls::AsPresent, OutNulls::LeaveOut, OutNulls::Keep])
    };
    let what = prop_oneof![
        5 => (expr(), nulls()).prop_map(|(expr, nulls)| What::Field(expr, nulls)),
        1 => value().prop_map(What::Const),
    ];
    vec((what, prop::bool::weighted(0.9)), 1..4)
}

/// Names are those of the places, or one that is there already.
fn projection(items: Vec<(What, bool)>) -> Projection {
    let item = |(at, (what, own)): (usize, (What, bool))| {
        let name = if own { format!("c{at}") } else { "c0".to_owned() }.into();
        match what {
            What::Field(expr, nulls) => OutItem::Field { name, expr, nulls },
            What::Const(value) => OutItem::Const { name, value },
        }
    };
    let items = items.into_iter().enumerate().map(item).collect();
    Projection::new(ProjectionPlan { items }, false)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn columns_agree_with_objects(
        cols in vec(column(), usize::from(COLS)),
        items in items(),
        picked in vec(any::<bool>(), ROWS),
    ) {
        let frame = Frame::new(&cols, ROWS);
        let zone = TimeZone::UTC;
        let cx = Cx {
            now_ms: 0,
            rule_id: "r",
            rule_start: 0,
            zone: &zone,
            row: RowTimes::default(),
            host: &NoHost,
        };
        let sel: Vec<u32> = (0..ROWS as u32).filter(|row| picked[*row as usize]).collect();
        let projection = projection(items);
        if let Some(columns) = projection.columns(&frame, &sel) {
            prop_assert_eq!(columns.rows, sel.len());
            for (at, row) in sel.iter().enumerate() {
                let env = Env { frame: &frame, cx: &cx };
                let object = projection.object(env, *row as usize);
                let object = object.map_err(|e| TestCaseError::fail(e.0.to_string()))?;
                prop_assert_eq!(columns.object(at), object.clone());
                let text = |object| json::to_serde(&Value::object(object)).to_string();
                prop_assert_eq!(text(columns.object(at)), text(object), "also by their kinds");
            }
        }
    }
}
