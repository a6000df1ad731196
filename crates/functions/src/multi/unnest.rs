use std::sync::Arc;

use rekuiper_value::{Object, Value};

use crate::{Arg, FunctionDef, Kind};

pub const DEF: FunctionDef = FunctionDef {
    name: "unnest",
    family: "multi",
    args: &[Arg::any("array")],
    returns: "rows",
    doc: "One row for each element of an array. The members of an object become columns and win \
          over others of their name; any other element is the column of the call's name or alias. \
          No element, null, or anything but an array gives no row. Once in a SELECT.",
    ..FunctionDef::of(Kind::MultiRow)
};

/// What an element makes of its row.
#[derive(Clone, Debug, PartialEq)]
pub enum Unnested {
    /// Columns that win over others of their name.
    Columns(Arc<Object>),
    /// The value of the column named like the call or its alias.
    Item(Value),
}

/// The rows that the value makes, one an element.
pub fn rows(value: &Value) -> impl Iterator<Item = Unnested> + '_ {
    let items = value.as_array().map(|a| a.as_slice()).unwrap_or_default();
    items.iter().map(|item| match item {
        Value::Object(members) => Unnested::Columns(members.clone()),
        Value::Missing => Unnested::Item(Value::Null),
        other => Unnested::Item(other.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read;

    #[test]
    fn one_row_an_element() {
        let value = read(r#"[1,null,{"p":3}]"#);
        let rows: Vec<Unnested> = rows(&value).collect();
        assert_eq!(rows[0], Unnested::Item(Value::Float(1.0)));
        assert_eq!(rows[1], Unnested::Item(Value::Null));
        assert!(matches!(&rows[2], Unnested::Columns(o) if o.len() == 1));
        for none in ["[]", "null", "5", r#"{"a":1}"#] {
            assert_eq!(super::rows(&read(none)).count(), 0, "{none}");
        }
    }
}
