//! Reads the recorded cases of eKuiper's grammar.

use serde_json::Value;

pub struct Case {
    pub name: String,
    pub json: Value,
}

impl Case {
    /// The text under `key`, or under `key_parts` as repeated pieces (`{i}` counts them).
    pub fn text(&self, key: &str) -> Option<String> {
        if let Some(text) = self.json[key].as_str() {
            return Some(text.to_string());
        }
        let parts = self.json[format!("{key}_parts")].as_array()?;
        let mut out = String::new();
        for part in parts {
            let text = part[0].as_str().expect("a text");
            for i in 0..part[1].as_u64().expect("a count") {
                if text.contains("{i}") {
                    out.push_str(&text.replace("{i}", &i.to_string()));
                } else {
                    out.push_str(text);
                }
            }
        }
        Some(out)
    }

    /// None where either verdict will do.
    pub fn accept(&self) -> Option<bool> {
        self.json["accept"].as_bool()
    }

    #[allow(dead_code)] // Only one of the test programs needs it.
    pub fn strings(&self, key: &str) -> Vec<String> {
        let list = self.json[key].as_array().cloned().unwrap_or_default();
        list.iter()
            .filter_map(|v| v.as_str().map(String::from))
            .collect()
    }
}

pub fn cases(text: &str) -> Vec<Case> {
    text.lines()
        .filter(|l| !l.trim().is_empty())
        .map(|l| {
            let json: Value = serde_json::from_str(l).expect("a case is JSON");
            Case {
                name: json["name"].as_str().expect("a name").to_string(),
                json,
            }
        })
        .collect()
}
