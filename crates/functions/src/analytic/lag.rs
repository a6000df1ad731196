use std::collections::VecDeque;

use rekuiper_value::{Result, Value};

use crate::arguments::{at, whole, whole_of, wrong};
use crate::registry::cases;
use crate::{Analytic, Arg, ArgKind, FunctionDef, Kind, Refuse};

/// Farthest row back.
const OFFSET_MAX: i64 = 1_000_000;

pub const DEF: FunctionDef = FunctionDef {
    name: "lag",
    family: "analytic",
    args: &[
        Arg::any("value"),
        Arg::new("offset", Refuse(2 | 4 | 8 | 16 | 32 | 64)).opt(),
        Arg::any("default").opt(),
        Arg::new("ignore_null", Refuse(1 | 2 | 4 | 16)).opt(),
    ],
    check: Some(check),
    returns: "any",
    doc: "The value of an earlier row: of the one before, or so many rows before as the offset \
          says. Until there are so many rows, the default of the first row. Nulls are not \
          remembered unless the fourth argument is false. An offset of 0 gives null.",
    ..FunctionDef::of(Kind::Analytic(|| Box::<Lag>::default()))
};

fn check(args: &[ArgKind]) -> std::result::Result<(), String> {
    match args.get(1) {
        Some(ArgKind::Literal(n))
            if !whole_of(n).is_some_and(|n| (0..=OFFSET_MAX).contains(&n)) =>
        {
            Err(format!(
                "lag: the offset must be a whole number from 0 to {OFFSET_MAX}"
            ))
        }
        _ => Ok(()),
    }
}

#[derive(Default)]
struct Lag {
    /// The values of the last rows, the oldest first; at most as many as the offset.
    earlier: VecDeque<Value>,
    /// The default, once there was a row.
    default: Option<Value>,
}

impl Lag {
    fn offset(args: &[Value]) -> Result<usize> {
        if args.len() < 2 {
            return Ok(1);
        }
        let n = whole(DEF.name, args, 1)?;
        let fits = usize::try_from(n).ok().filter(|_| n <= OFFSET_MAX);
        fits.ok_or_else(|| wrong(DEF.name, 1, "an offset from 0 to 1000000", at(args, 1)))
    }

    fn value(&self, offset: usize, args: &[Value]) -> Value {
        let value = match self.earlier.front() {
            _ if offset == 0 => &Value::Null,
            Some(oldest) if self.earlier.len() >= offset => oldest,
            _ => self.default.as_ref().unwrap_or(at(args, 2)),
        };
        if value.is_null() {
            Value::Null
        } else {
            value.clone()
        }
    }
}

impl Analytic for Lag {
    fn push(&mut self, args: &[Value]) -> Result<Value> {
        let offset = Self::offset(args)?;
        self.default.get_or_insert_with(|| at(args, 2).clone());
        let value = self.value(offset, args);
        let ignore_null = at(args, 3).as_bool().unwrap_or(true);
        if offset > 0 && !(ignore_null && at(args, 0).is_null()) {
            if self.earlier.len() >= offset {
                self.earlier.pop_front();
            }
            self.earlier.push_back(at(args, 0).clone());
        }
        Ok(value)
    }

    fn skip(&mut self, args: &[Value]) -> Result<Value> {
        Ok(self.value(Self::offset(args)?, args))
    }

    fn save(&self) -> Value {
        let earlier = Value::array(self.earlier.iter().cloned().collect());
        Value::array([earlier].into_iter().chain(self.default.clone()).collect())
    }

    fn load(&mut self, state: &Value) {
        let parts = state.as_array().map(|a| a.to_vec()).unwrap_or_default();
        self.earlier = at(&parts, 0)
            .as_array()
            .map(|a| a.to_vec())
            .unwrap_or_default()
            .into();
        self.default = parts.get(1).cloned();
    }
}

cases! {
    series: "[[20],[30],[null],[25]]" => "[null,20,30,30]",
    "[[1,2,7],[null,2,8],[3,2,8],[null,2,8],[3,2,8],[5,2,8]]" => "[7,7,7,1,1,3]",
    "[[1,1,0,false],[null,1,0,false],[3,1,0,false]]" => "[0,1,null]",
    "[[1,0],[2,0]]" => "[null,null]", "[[1,-1],[1,1.5]]" => "[\"error\",\"error\"]",
    r#"[{"skip":[20]},[20],[22],{"skip":[30]},{"skip":[31]},[31]]"# => "[null,null,20,22,22,22]",
    "[[null,1,5],[null,1,6]]" => "[5,5]",
}
