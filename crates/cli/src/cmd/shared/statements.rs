//! Streams and tables: the words become a statement, which the server runs.

use serde_json::{Map, Value, json};

use super::from_file;
use crate::client::part;
use crate::command::Call;
use crate::outcome::{Answer, Answered, Failure};

const ERROR: &str = "Stream command error: ";

/// Runs a statement; the reply is the text to show, and a blank line after it.
pub fn run(call: &Call, sql: &str) -> Result<String, Failure> {
    let body = json!({"sql": sql}).to_string();
    let reply = call.client.post("/streams", &body)?.text().map_err(|e| e.after(ERROR))?;
    Ok(format!("{}\n", reply.trim_end()))
}

pub fn create(call: &Call) -> Answered {
    let kind = call.command.noun;
    let definition = match from_file(call, kind)? {
        Some(text) => text,
        None if call.args.words.is_empty() => {
            return Err(Failure::Unmet(format!("Expect {kind} name and definition.")));
        }
        None => call.args.words.join(" "),
    };
    run(call, &format!("create {kind} {definition}")).map(Answer::from)
}

pub fn describe(call: &Call) -> Answered {
    let kind = call.command.noun;
    let name = call.only(&format!("{kind} name"))?;
    if call.json || call.args.flag("json").is_some_and(|v| v != "false") {
        let path = format!("/{kind}s/{}", part(name));
        let told = call.client.get(&path)?.json().map_err(|e| e.after(ERROR))?;
        return Ok(Answer::Data(columns_and_options(&told)));
    }
    run(call, &format!("describe {kind} {name}")).map(Answer::from)
}

pub fn drop(call: &Call) -> Answered {
    let kind = call.command.noun;
    let name = call.only(&format!("{kind} name"))?;
    run(call, &format!("drop {kind} {name}")).map(Answer::from)
}

pub fn show(call: &Call) -> Answered {
    let kinds = call.command.noun;
    if call.json {
        return call.client.get(&format!("/{kinds}"))?.json().map(Answer::Data);
    }
    run(call, &format!("show {kinds}")).map(Answer::from)
}

/// The JSON form of a description; names of options end in a colon there, as they always did.
fn columns_and_options(told: &Value) -> Value {
    let fields: Vec<Value> = told["StreamFields"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|f| json!({"Name": f["Name"], "Type": type_name(&f["FieldType"])}))
        .collect();
    let options: Map<String, Value> = told["Options"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| (format!("{}:", statement_word(key)), value.clone()))
        .collect();
    json!({"Fields": fields, "Options": options})
}

/// `confKey` is CONF_KEY in a statement.
fn statement_word(key: &str) -> String {
    let mut word = String::new();
    for c in key.chars() {
        if c.is_uppercase() {
            word.push('_');
        }
        word.extend(c.to_uppercase());
    }
    word
}

fn type_name(t: &Value) -> String {
    match t["Type"].as_str() {
        Some("array") => format!("array({})", type_name(&t["ElementType"])),
        Some("struct") => {
            let fields: Vec<String> = t["Fields"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|f| {
                    let name = f["Name"].as_str().unwrap_or_default();
                    format!("{name} {}", type_name(&f["FieldType"]))
                })
                .collect();
            format!("struct({})", fields.join(", "))
        }
        _ => t.as_str().unwrap_or_default().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_types_read_as_in_the_statement() {
        let told = json!({
            "StreamFields": [
                {"Name": "a", "FieldType": {"Type": "array", "ElementType": "bigint"}},
                {"Name": "b", "FieldType": {"Type": "struct", "Fields": [
                    {"Name": "x", "FieldType": "float"}, {"Name": "y", "FieldType": "string"}]}},
            ],
            "Options": {"confKey": "k", "datasource": "t"},
        });
        assert_eq!(
            columns_and_options(&told),
            json!({
                "Fields": [{"Name": "a", "Type": "array(bigint)"},
                           {"Name": "b", "Type": "struct(x float, y string)"}],
                "Options": {"CONF_KEY:": "k", "DATASOURCE:": "t"},
            })
        );
    }

    #[test]
    fn a_stream_without_columns_has_an_empty_list() {
        let told = json!({"StreamFields": null, "Options": {}});
        assert_eq!(columns_and_options(&told), json!({"Fields": [], "Options": {}}));
    }
}
