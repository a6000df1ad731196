//! Which addresses requests of this server may go to. Without `basic.enablePrivateNet` a user of
//! the API must not reach what only this machine can reach.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is refused.
pub fn check(ip: IpAddr) -> Result<(), String> {
    let inner = match ip {
        IpAddr::V4(v4) => private_v4(v4),
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => private_v4(v4),
            None => private_v6(v6),
        },
    };
    match inner {
        false => Ok(()),
        true => Err(format!(
            "ip {ip} is in internal network; set basic.enablePrivateNet to allow it"
        )),
    }
}

fn private_v4(ip: Ipv4Addr) -> bool {
    let [a, b, ..] = ip.octets();
    ip.is_loopback()
        || ip.is_private()
        || ip.is_link_local()
        || ip.is_multicast()
        || ip.is_unspecified()
        || ip.is_broadcast()
        || a == 0
        // Shared address space of carriers.
        || (a == 100 && (64..128).contains(&b))
}

fn private_v6(ip: Ipv6Addr) -> bool {
    let first = ip.segments()[0];
    // IPv4 inside IPv6: NAT64 and 6to4 lead to any IPv4 address.
    let wrapped = ip.segments()[..2] == [0x64, 0xff9b] || first == 0x2002;
    ip.is_loopback()
        || ip.is_unspecified()
        || ip.is_multicast()
        || first & 0xfe00 == 0xfc00
        || first & 0xffc0 == 0xfe80
        || wrapped
        || ip.to_ipv4().is_some()
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn inner_addresses_in_every_spelling_are_refused() {
        for ip in [
            "127.0.0.1",
            "127.9.9.9",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "100.64.0.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
        ] {
            assert!(check(ip.parse().unwrap()).is_err(), "{ip}");
        }
        for ip in ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111"] {
            assert!(check(ip.parse().unwrap()).is_ok(), "{ip}");
        }
    }
}
