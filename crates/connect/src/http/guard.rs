//! Which addresses are inside a private network. Whoever may make rules must not reach through
//! them what only this machine can reach, unless `basic.enablePrivateNet` says so.

use std::net::{IpAddr, Ipv4Addr};

/// Loopback, private, shared, link-local, multicast or unspecified; IPv4 inside IPv6 counts as
/// IPv4.
pub fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_private_v4(ip),
        IpAddr::V6(ip) => {
            if let Some(v4) = ip.to_ipv4_mapped() {
                return is_private_v4(v4);
            }
            let s = ip.segments();
            // addresses that carry an IPv4 one: NAT64 and 6to4
            let carried = match s {
                [0x64, 0xff9b, 0, 0, 0, 0, a, b] | [0x2002, a, b, ..] => {
                    Some(Ipv4Addr::from((u32::from(a) << 16) | u32::from(b)))
                }
                _ => None,
            };
            ip.is_loopback()
                || ip.is_unspecified()
                || ip.is_multicast()
                || (s[0] & 0xfe00) == 0xfc00 // unique local
                || (s[0] & 0xff80) == 0xfe80 // link-local, and site-local of old
                || s[..3] == [0x64, 0xff9b, 1] // translation within a network
                || s[..2] == [0x2001, 0] // a tunnel that hides where it ends
                || carried.is_some_and(is_private_v4)
                || s[..6] == [0; 6] // the old form of an IPv4 address
        }
    }
}

fn is_private_v4(ip: Ipv4Addr) -> bool {
    let [a, b, ..] = ip.octets();
    ip.is_loopback()
        || ip.is_private()
        || ip.is_link_local()
        || ip.is_multicast()
        || ip.is_broadcast()
        || a == 0
        // the shared address space of carriers
        || (a == 100 && (64..128).contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_and_public() {
        for ip in [
            "127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
            "169.254.169.254", "0.0.0.0", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1",
            "fc00::1", "fd12::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
            "64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1", "100.64.0.1", "fec0::1",
            "64:ff9b:1::8.8.8.8", "2001:0:7f00:1::",
        ] {
            assert!(is_private(ip.parse().unwrap()), "{ip}");
        }
        let outer = ["8.8.8.8", "172.32.0.1", "192.169.0.1", "100.128.0.1", "2606:4700::1111"];
        for ip in outer.into_iter().chain(["::ffff:8.8.8.8"]) {
            assert!(!is_private(ip.parse().unwrap()), "{ip}");
        }
    }
}
