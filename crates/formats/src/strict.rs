//! STRICT_VALIDATION: every declared column that a rule uses must be there (or have a DEFAULT) and
//! be of its type; datetimes become times.

use jiff::tz::TimeZone;
use rekuiper_value::{ColType, Error, Object, Result, Str, Value, cast, time};

use crate::table::{Build, Table};

/// What strict validation needs to know beside the column.
pub struct Strict<'a> {
    pub format: Option<&'a time::Pattern>,
    pub zone: &'a TimeZone,
    pub defaults: &'a [(Str, Value)],
}

impl Strict<'_> {
    /// Validates a slot's column. Gives the rows that it does not fit.
    pub fn column(
        &self,
        table: &mut Table,
        slot: usize,
        name: &Str,
        ty: &ColType,
    ) -> Vec<(usize, Error)> {
        let default = self.defaults.iter().find(|(n, _)| n == name).map(|(_, value)| value);
        let mut bad = Vec::new();
        let mut values = Vec::with_capacity(table.rows());
        for row in 0..table.rows() {
            let value = match (table.value(slot, row), default) {
                (Value::Missing, Some(default)) => Ok(default.clone()),
                (Value::Missing, None) => Err(not_found(name)),
                (value, _) => self.value(&value, ty).map_err(|error| {
                    Error::new(format!(
                        "error in preprocessor: field {name} type mismatch: {error}"
                    ))
                }),
            };
            values.push(value.unwrap_or_else(|error| {
                bad.push((row, error));
                Value::Missing
            }));
        }
        table.slots[slot] = Build::Values(values);
        table.ints[slot] = false;
        bad
    }

    fn value(&self, value: &Value, ty: &ColType) -> Result<Value> {
        match (ty, value) {
            (ColType::Array(of), Value::Array(items)) => {
                let made: Result<Vec<Value>> = items.iter().map(|v| self.value(v, of)).collect();
                Ok(Value::array(made?))
            }
            (ColType::Struct(members), Value::Object(object)) => {
                let mut made = Object::new();
                for (name, ty) in members {
                    let Some(member) = object.get(name) else { return Err(not_found(name)) };
                    made.insert(name.clone(), self.value(member, ty)?);
                }
                Ok(Value::object(made))
            }
            _ => cast::convert_strict(value, ty, self.format, self.zone),
        }
    }
}

fn not_found(name: &str) -> Error {
    Error::new(format!("error in preprocessor: field {name} is not found"))
}
