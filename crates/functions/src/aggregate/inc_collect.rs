use crate::FunctionDef;

pub const DEF: FunctionDef = FunctionDef {
    name: "inc_collect",
    doc: "The running form of collect in eKuiper's incremental windows; the same as collect.",
    ..super::collect::DEF
};

#[cfg(test)]
mod tests {
    #[test]
    fn gives_what_its_namesake_gives() {
        let rows = r#"[[{"a":1},true],[null,true],[{"a":2},true]]"#;
        let numbers = "[[4,true],[1,true],[null,true]]";
        let wanted = |rows| {
            let crate::Kind::Aggregate { new, .. } = super::super::collect::DEF.kind else {
                return None;
            };
            let mut state = new();
            for row in crate::testing::read(rows).as_array()?.iter() {
                let _ = state.add(row.as_array()?);
            }
            let got = state
                .finish()
                .and_then(|v| rekuiper_value::json::to_string(&v));
            Some(got.unwrap_or_else(|_| "error".into()))
        };
        for rows in [rows, numbers] {
            crate::testing::aggregate(&super::DEF, rows, &wanted(rows).unwrap());
        }
    }
}
