//! Who may connect.

use rekuiper_mqtt_codec::{Connect, ReasonCode};

use crate::BrokerConfig;

/// Checks user name and password of a CONNECT.
pub(crate) fn check(config: &BrokerConfig, connect: &Connect) -> Result<(), ReasonCode> {
    if connect.properties.authentication_method().is_some() {
        return Err(ReasonCode::BAD_AUTHENTICATION_METHOD);
    }
    let Some(name) = &connect.user_name else {
        return match config.allow_anonymous {
            true => Ok(()),
            false => Err(ReasonCode::NOT_AUTHORIZED),
        };
    };
    // nobody is known by name: then a name means nothing
    if config.users.is_empty() && config.allow_anonymous {
        return Ok(());
    }
    let given = connect.password.as_deref().unwrap_or_default();
    let known = config.users.iter().find(|user| user.name == *name);
    match known {
        Some(user) if same(user.password.as_bytes(), given) => Ok(()),
        _ => Err(ReasonCode::BAD_USER_NAME_OR_PASSWORD),
    }
}

/// Compares without telling by its duration how much was right.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |acc, (x, y)| acc | (x ^ y)) == 0
}
