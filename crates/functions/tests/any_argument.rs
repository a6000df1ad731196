//! No argument makes a function panic or run away.

use jiff::tz::TimeZone;
use proptest::prelude::*;
use rekuiper_functions::{Cx, Kind, NoHost, RowTimes, all};
use rekuiper_value::{Value, time};

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Missing),
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        prop_oneof![Just(i64::MIN), Just(i64::MAX), -40i64..40].prop_map(Value::Int),
        prop_oneof![
            any::<f64>(),
            Just(f64::NAN),
            Just(f64::INFINITY),
            Just(-1e300),
            -9.0..9.0f64
        ]
        .prop_map(Value::Float),
        Just(Value::Wide(9_007_199_254_740_993)),
        "\\PC{0,12}".prop_map(Value::from),
        prop_oneof![
            "[0-9a-fx+-]{0,8}",
            "[yMdHmsS':]{0,8}",
            "[a-z\\[\\](){}*+?|^$\\\\.,0-9-]{0,10}"
        ]
        .prop_map(Value::from),
        prop::sample::select(vec![
            "bigint",
            "float",
            "string",
            "boolean",
            "datetime",
            "bytea",
            "base64",
            "zlib",
            "gzip",
            "flate",
            "zstd",
            "en_US",
            "de_DE",
            "UTC",
            "Asia/Tokyo",
            "2020-02-29",
            "1h30m",
            "$.a",
            "$..*",
            "upper",
        ])
        .prop_map(Value::from),
        prop::collection::vec(any::<u8>(), 0..12).prop_map(Value::bytes),
        any::<i32>().prop_map(|s| {
            let t = time::from_millis(i64::from(s) * 1000, &TimeZone::UTC);
            t.map_or(Value::Null, |t| Value::Time(t.into()))
        }),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::array),
            prop::collection::btree_map("[a-c]", inner, 0..3).prop_map(|members| {
                Value::object(members.into_iter().map(|(k, v)| (k.into(), v)).collect())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn scalars_take_anything(args in prop::collection::vec(value(), 0..5)) {
        let zone = TimeZone::UTC;
        let cx = Cx {
            now_ms: 1_700_000_000_123,
            rule_id: "rule",
            rule_start: 0,
            zone: &zone,
            row: RowTimes::default(),
            host: &NoHost,
        };
        for def in all().filter(|d| matches!(d.kind, Kind::Scalar(_))) {
            let (least, most) = def.arity();
            if args.len() >= least && most.is_none_or(|m| args.len() <= m) {
                let _ = def.call(&args, &cx);
            }
        }
    }
}
