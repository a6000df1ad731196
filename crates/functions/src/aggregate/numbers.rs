//! Sums that keep whole numbers whole.

use rekuiper_value::{Result, Value};

use super::unfit;

/// The sum so far. Integers stay integers until a float comes in.
#[derive(Clone, Debug, Default)]
pub(super) enum Total {
    #[default]
    None,
    /// 128 bits: the sum of a window cannot overflow.
    Ints(i128),
    /// One schemaless number beyond 2^53, kept exactly as long as it is alone.
    Alone(i64),
    Floats(f64),
}

impl Total {
    pub(super) fn add(&mut self, name: &str, value: &Value) -> Result<()> {
        let next = match (&*self, value) {
            (Total::None, Value::Int(i)) => Total::Ints(i128::from(*i)),
            (Total::None, Value::Wide(i)) => Total::Alone(*i),
            (Total::Ints(sum), Value::Int(i)) => Total::Ints(sum + i128::from(*i)),
            (_, value) => match value.as_f64() {
                Some(f) => Total::Floats(self.as_f64() + f),
                None => return Err(unfit(name, "numbers", value)),
            },
        };
        *self = next;
        Ok(())
    }

    pub(super) fn as_f64(&self) -> f64 {
        match self {
            // so that a sum of negative zeros stays one
            Total::None => -0.0,
            Total::Ints(i) => *i as f64,
            Total::Alone(i) => *i as f64,
            Total::Floats(f) => *f,
        }
    }

    pub(super) fn save(&self) -> Value {
        match self {
            Total::None => Value::Null,
            Total::Ints(i) => Value::from(i.to_string()),
            Total::Alone(i) => Value::Wide(*i),
            Total::Floats(f) => Value::Float(*f),
        }
    }

    pub(super) fn load(state: &Value) -> Self {
        match state {
            Value::Str(s) => s.parse().map_or(Total::None, Total::Ints),
            Value::Int(i) | Value::Wide(i) => Total::Alone(*i),
            Value::Float(f) => Total::Floats(*f),
            _ => Total::None,
        }
    }
}
