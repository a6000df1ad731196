//! Operators of graph rules, as the metadata endpoint shows them.

use serde_json::{Value, json};

/// Name, input, output, what it does, its properties as (name, type, hint).
type Operator = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static [Field],
);
type Field = (&'static str, &'static str, &'static str);

static ALL: &[Operator] = &[
    (
        "filter",
        "any",
        "same",
        "Lets rows pass for which a condition holds.",
        &[("expr", "string", "Condition, such as temperature > 20.")],
    ),
    (
        "function",
        "row",
        "same",
        "Adds what a function gives.",
        &[("expr", "string", "A call, such as log(temperature) as t.")],
    ),
    (
        "groupby",
        "collection",
        "collection",
        "Groups the rows of a window.",
        &[("dimensions", "list_string", "Expressions to group by.")],
    ),
    (
        "join",
        "collection",
        "collection",
        "Joins streams of a window, or a lookup table.",
        &[
            ("from", "string", "The left stream."),
            ("joins", "list_object", "name, type and on."),
        ],
    ),
    (
        "orderby",
        "collection",
        "collection",
        "Puts the rows of a window in order.",
        &[("sorts", "list_object", "field and desc.")],
    ),
    (
        "pick",
        "any",
        "same",
        "Keeps chosen columns.",
        &[("fields", "list_string", "Columns or expressions to keep.")],
    ),
    (
        "script",
        "any",
        "any",
        "Runs a script on each message.",
        &[
            ("script", "string", "A function called exec."),
            ("isAgg", "bool", "Whether it takes lists."),
        ],
    ),
    (
        "switch",
        "any",
        "same",
        "Sends rows to the branch whose condition holds.",
        &[
            ("cases", "list_string", "One condition for each branch."),
            (
                "stopAtFirstMatch",
                "bool",
                "Whether one branch at most gets a row.",
            ),
        ],
    ),
    (
        "window",
        "row",
        "collection",
        "Collects rows in windows.",
        &[
            (
                "type",
                "string",
                "tumblingwindow, hoppingwindow, slidingwindow, sessionwindow or countwindow.",
            ),
            ("unit", "string", "dd, hh, mi, ss or ms."),
            ("size", "int", "Length."),
            ("interval", "int", "Step or timeout."),
        ],
    ),
];

pub fn list() -> Value {
    ALL.iter().map(show).collect::<Vec<_>>().into()
}

fn show((name, input, output, doc, fields): &Operator) -> Value {
    let both = |text: &str| json!({"en": text, "zh": text});
    let properties: Vec<Value> = fields
        .iter()
        .map(|(name, typ, hint)| {
            json!({"name": name, "default": null, "type": typ, "control": "text",
                "optional": false, "hint": both(hint), "label": both(name)})
        })
        .collect();
    json!({
        "name": name,
        "about": {"trial": false, "description": both(doc)},
        "properties": properties,
        "node": {"display": true, "category": "operator", "input": input, "output": output,
            "icon": "iconPath", "label": both(name)},
    })
}
