//! What is told of the functions: the body of `GET /metadata/functions` and the pages of the
//! reference manual, both from the `DEF`s alone.

use serde_json::{Value as Json, json};

use crate::{Arg, FunctionDef, Kind};

/// Families with their title, one sentence on each, in the order of the manual.
const FAMILIES: &[(&str, &str, &str)] = &[
    (
        "string",
        "String functions",
        "Text: cutting, searching, replacing, formatting.",
    ),
    (
        "math",
        "Mathematical functions",
        "Numbers: arithmetic, powers, angles, bits, rounding.",
    ),
    (
        "hashing",
        "Hashing functions",
        "Digests of text, in hexadecimal.",
    ),
    (
        "transform",
        "Transform functions",
        "From one kind or encoding to another.",
    ),
    (
        "datetime",
        "Date and time functions",
        "Points in time: reading, taking apart, comparing.",
    ),
    (
        "array",
        "Array functions",
        "Arrays: searching, sets, sorting, making.",
    ),
    (
        "object",
        "Object functions",
        "Objects: members, picking, merging, making.",
    ),
    ("json", "JSON functions", "JSON text and paths into values."),
    (
        "other",
        "Other functions",
        "What a rule knows of itself, its rows and its surroundings.",
    ),
    (
        "aggregate",
        "Aggregate functions",
        "One value from the rows of a group or window.",
    ),
    (
        "analytic",
        "Analytic functions",
        "They remember earlier rows: changes, running totals.",
    ),
    (
        "multi",
        "Multi-row and window functions",
        "They make rows or columns, or number rows.",
    ),
];

fn title(family: &str) -> (&str, &str) {
    let known = FAMILIES.iter().find(|(name, ..)| *name == family);
    known.map_or((family, ""), |(_, title, about)| (*title, *about))
}

/// Families that have functions, in the order of the manual.
pub(crate) fn families() -> Vec<&'static str> {
    let mut found: Vec<&'static str> = Vec::new();
    let known = FAMILIES.iter().map(|(name, ..)| *name);
    for family in known.chain(crate::all().map(|def| def.family)) {
        if !found.contains(&family) && crate::all().any(|def| def.family == family) {
            found.push(family);
        }
    }
    found
}

fn of_family(family: &str) -> impl Iterator<Item = &'static FunctionDef> + '_ {
    crate::all().filter(move |def| def.family == family)
}

/// How a call is written: `lag(value [, offset [, default [, ignore_null]]])`.
pub(crate) fn signature(def: &FunctionDef, name: &str) -> String {
    let mut text = format!("{name}(");
    let mut open = 0;
    for (at, arg) in def.args.iter().enumerate() {
        if arg.optional {
            text.push_str(if at > 0 { " [" } else { "[" });
            open += 1;
        }
        if at > 0 {
            text.push_str(", ");
        }
        text.push_str(arg.name);
    }
    if def.variadic {
        text.push_str(", …");
    }
    text.push_str(&"]".repeat(open));
    text.push(')');
    text
}

/// Both languages that the tools ask for. Texts are in English alone.
fn both(text: &str) -> Json {
    json!({ "en_US": text, "zh_CN": text })
}

/// The body of `GET /metadata/functions`: one entry a family, and in it its functions.
pub fn metadata() -> Json {
    Json::Array(families().into_iter().map(family_entry).collect())
}

fn family_entry(family: &str) -> Json {
    let (title, about) = title(family);
    let help = format!("docs/reference/functions/{family}.md");
    let mut functions = Vec::new();
    for def in of_family(family) {
        functions.push(function_entry(def, def.name));
        functions.extend(def.aliases.iter().map(|alias| function_entry(def, alias)));
    }
    json!({
        "name": family,
        "about": {
            "trial": false,
            "installed": true,
            "author": {
                "name": "rekuiper",
                "email": "",
                "company": "",
                "website": "",
            },
            "helpUrl": both(&help),
            "description": both(&format!("{title}. {about}")),
        },
        "functions": functions,
    })
}

fn function_entry(def: &FunctionDef, name: &str) -> Json {
    let example = match (def.example.0, def.kind) {
        ("", Kind::Planned | Kind::Scalar(_)) if def.args.is_empty() => format!("{name}()"),
        ("", _) => plain_call(def, name),
        (given, _) => given.to_owned(),
    };
    let mut entry = json!({
        "name": name,
        "example": example,
        "hint": both(def.doc),
        "args": def.args.iter().map(|arg| arg_entry(def, arg)).collect::<Vec<_>>(),
        "return": { "type": def.returns, "hint": both(def.returns) },
        "node": {
            "category": "function",
            "icon": "iconPath",
            "label": both(name),
        },
    });
    if matches!(def.kind, Kind::Aggregate { .. }) {
        entry["aggregate"] = Json::Bool(true);
    }
    entry
}

/// A call with its needed arguments by their names, as an example where no constant one fits.
fn plain_call(def: &FunctionDef, name: &str) -> String {
    let needed: Vec<&str> = def
        .args
        .iter()
        .filter(|a| !a.optional)
        .map(|a| a.name)
        .collect();
    format!("{name}({})", needed.join(", "))
}

fn arg_entry(def: &FunctionDef, arg: &Arg) -> Json {
    use crate::Refuse;
    // a form field for literals, a column picker for the rest
    let literal = arg.refuse.has(Refuse::COLUMN);
    let kind = match arg.refuse {
        r if r.has(Refuse::STRING) && !r.has(Refuse::INT) && !r.has(Refuse::FLOAT) => "float",
        r if r.has(Refuse::STRING) && !r.has(Refuse::INT) => "int",
        r if r.has(Refuse::STRING) && !r.has(Refuse::BOOLEAN) => "bool",
        r if r.has(Refuse::INT) && !r.has(Refuse::STRING) => "string",
        _ => "any",
    };
    let label = arg.name.replace('_', " ");
    json!({
        "name": arg.name,
        "optional": arg.optional,
        "control": if literal { "text" } else { "field" },
        "type": kind,
        "hint": both(&format!("{label} of {}", def.name)),
        "label": both(&label),
    })
}

/// The page `docs/reference/functions/<family>.md`; empty for a family that does not exist.
pub fn reference_page(family: &str) -> String {
    let defs: Vec<&FunctionDef> = of_family(family).collect();
    if defs.is_empty() {
        return String::new();
    }
    let (title, about) = title(family);
    let mut page = format!(
        "<!-- Made from crates/functions by `cargo xtask codegen`: change the functions, not this \
         page. -->\n\n# {title}\n\n{about}\n"
    );
    for def in defs {
        page.push_str(&format!(
            "\n## {}\n\n`{}`",
            def.name,
            signature(def, def.name)
        ));
        page.push_str(&format!(" → {}", def.returns));
        if !def.aliases.is_empty() {
            page.push_str(&format!(" · also called `{}`", def.aliases.join("`, `")));
        }
        page.push_str(&format!("\n\n{}\n", def.doc));
        let null = null_sentence(def);
        if !null.is_empty() {
            page.push_str(&format!("\n{null}\n"));
        }
        let (example, answer) = def.example;
        if !example.is_empty() {
            page.push_str(&format!("\n```sql\n{example}   -- {answer}\n```\n"));
        }
    }
    page
}

fn null_sentence(def: &FunctionDef) -> &'static str {
    use crate::NullRule;
    match (def.kind, def.nulls) {
        (Kind::Scalar(_), _) if def.args.is_empty() => "",
        (Kind::Scalar(_), NullRule::EmptyToNull) => {
            "Null where an argument is null, missing, `[]` or `{}`."
        }
        (Kind::Scalar(_), NullRule::NullToNull) => "Null where an argument is null or missing.",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_has_an_entry_with_all_parts() {
        let body = metadata();
        let files = body.as_array().unwrap();
        let entries: Vec<&Json> = files
            .iter()
            .flat_map(|f| f["functions"].as_array().unwrap())
            .collect();
        for def in crate::all() {
            let entry = entries
                .iter()
                .find(|e| e["name"] == def.name)
                .expect(def.name);
            for part in ["example", "hint", "args", "return", "node"] {
                assert!(entry.get(part).is_some(), "{}: {part}", def.name);
            }
            let aggregate = matches!(def.kind, Kind::Aggregate { .. });
            assert_eq!(entry.get("aggregate").is_some(), aggregate, "{}", def.name);
        }
        assert!(
            files
                .iter()
                .all(|f| f["about"]["helpUrl"]["en_US"].is_string())
        );
        assert!(
            files
                .iter()
                .all(|f| f["about"]["description"]["zh_CN"].is_string())
        );
    }

    #[test]
    fn signatures_show_what_may_be_left_out() {
        let of = |name: &str| signature(crate::lookup(name).unwrap(), name);
        assert_eq!(
            of("lag"),
            "lag(value [, offset [, default [, ignore_null]]])"
        );
        assert_eq!(of("array_create"), "array_create([value, …])");
        assert_eq!(of("tstamp"), "tstamp()");
    }

    #[test]
    fn pages_name_each_function_once() {
        for family in families() {
            let page = reference_page(family);
            for def in of_family(family) {
                assert_eq!(page.matches(&format!("\n## {}\n", def.name)).count(), 1);
            }
        }
        assert_eq!(reference_page("no such family"), "");
    }
}
