//! Sentences that scripts look for, in one place.

pub const NOT_CONNECTED: &str = "Failed to connect the server, please start the server.";

/// How eKuiper's tool names a rule that is not there; it stands alone, without a prefix.
pub fn no_rule(name: &str) -> String {
    format!("Rule {name} is not found, `kuiper show rules` lists what there is.")
}
