use std::sync::Arc;

use rekuiper_value::{Object, Result, Value};

use crate::arguments::wrong;
use crate::{Arg, FunctionDef, Kind};

pub const DEF: FunctionDef = FunctionDef {
    name: "extract",
    family: "multi",
    args: &[Arg::any("object")],
    returns: "columns",
    doc: "The members of an object become columns. Null and `{}` give no row, other kinds lose \
          the row. Only in SELECT.",
    ..FunctionDef::of(Kind::MultiRow)
};

/// The columns that the object's members become; none: there is no row.
pub fn columns(value: &Value) -> Result<Option<Arc<Object>>> {
    match value {
        Value::Object(members) if members.is_empty() => Ok(None),
        Value::Object(members) => Ok(Some(members.clone())),
        value if value.is_null() => Ok(None),
        other => Err(wrong(DEF.name, 0, "an object", other)),
    }
}

#[cfg(test)]
mod tests {
    use super::columns;
    use crate::testing::read;

    #[test]
    fn members_or_nothing() {
        assert_eq!(
            columns(&read(r#"{"a":1,"b":{"c":2}}"#))
                .unwrap()
                .unwrap()
                .len(),
            2
        );
        assert!(columns(&read("{}")).unwrap().is_none());
        assert!(columns(&read("null")).unwrap().is_none());
        assert!(columns(&read("5")).is_err());
    }
}
