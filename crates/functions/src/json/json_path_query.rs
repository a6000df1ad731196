use rekuiper_value::{Result, Value};

use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, NullRule, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "json_path_query",
    family: "json",
    args: &[
        Arg::any("document"),
        Arg::new("path", Refuse::NOT_TEXT_LITERAL),
    ],
    nulls: NullRule::Pass,
    returns: "any",
    doc: "What the path finds. `$` is the document; `.k` and `[\"k\"]` a member, `[2]` an element; \
          `[0,2]`, `[0:2]`, `[*]`, `.*`, `..k` and `[? @.k>1]` find several and give an array. \
          Conditions know `== != < <= > >= && || !`, parentheses, numbers, text, true, false and \
          null. A member or element that is not there fails.",
    example: (
        "json_path_query(array_create(object_construct(\"k\", 1)), \"$[*].k\")",
        "[1]",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    super::query(DEF.name, args)
}

cases! {
    scalar: r#"[{"a":{"b":[1,2,3]}},"$.a.b[1]"]"# => "2",
    r#"[{"a":[1,2,3]},"$.a[0,2]"]"# => "[1,3]",
    r#"[{"a":[1,2,3]},"$.a[0:2]"]"# => "[1,2]", r#"[{"a.b":1},"$[\"a.b\"]"]"# => "1",
    r#"[{"a":[{"k":1},{"k":5},{}]},"$.a[? @.k>1 && @.k<9].k"]"# => "[5]",
    r#"[{"a":[{"k":1},{"k":5}]},"$.a[?(@.k==1 || @.k==5)].k"]"# => "[1,5]",
    r#"[[{"n":"x"},{"n":"y"}],"$[? @.n=='y']"]"# => r#"[{"n":"y"}]"#,
    r#"[{"a":{"id":1,"b":[{"id":2}]}},"$..id"]"# => "[1,2]", r#"[{"n":3},"$.n[*]"]"# => "[]",
    r#"["{\"k\":1}","$.k"]"# => "1", r#"[{"k":1},"$.z"]"# => "error", r#"[[1],"$[-1]"]"# => "error",
    r#"[[1],"$[9]"]"# => "error", r#"[5,"$"]"# => "error", r#"[null,"$"]"# => "error",
    r#"["5","$"]"# => "error", r#"[{},"$.["]"# => "error", r#"[{},"$"]"# => "{}",
}
