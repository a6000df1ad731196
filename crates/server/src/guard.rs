//! Which addresses requests of this server may go to: those that connectors may reach.

use std::net::IpAddr;

/// Why an address is refused.
pub fn check(ip: IpAddr) -> Result<(), String> {
    match rekuiper_connect::http::is_private(ip) {
        false => Ok(()),
        true => Err(format!(
            "ip {ip} is in internal network; set basic.enablePrivateNet to allow it"
        )),
    }
}
