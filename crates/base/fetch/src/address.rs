//! Which addresses are public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The reason why an address is not public; `None` if it is.
///
/// From the registries of special addresses (RFC 6890 and later). An address that contains another
/// one (mapped, translated) is judged by the inner one; obsolete tunnels (6to4, Teredo) are
/// refused.
#[must_use]
pub fn forbidden(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(v4) => forbidden_v4(v4),
        IpAddr::V6(v6) => forbidden_v6(v6),
    }
}

/// Networks without public servers: address, prefix length, description.
const V4: [([u8; 4], u32, &str); 18] = [
    ([0, 0, 0, 0], 8, "unspecified"),
    ([10, 0, 0, 0], 8, "private"),
    ([100, 64, 0, 0], 10, "a provider's inner address"),
    ([127, 0, 0, 0], 8, "loopback"),
    ([168, 63, 129, 16], 32, "a cloud's metadata service"),
    ([169, 254, 0, 0], 16, "link-local, where clouds keep their metadata"),
    ([172, 16, 0, 0], 12, "private"),
    ([192, 0, 0, 0], 24, "reserved for protocols"),
    ([192, 0, 2, 0], 24, "for documentation"),
    ([192, 31, 196, 0], 24, "reserved for protocols"),
    ([192, 52, 193, 0], 24, "reserved for protocols"),
    ([192, 88, 99, 0], 24, "a 6to4 relay"),
    ([192, 168, 0, 0], 16, "private"),
    ([198, 18, 0, 0], 15, "for measurements"),
    ([198, 51, 100, 0], 24, "for documentation"),
    ([203, 0, 113, 0], 24, "for documentation"),
    ([224, 0, 0, 0], 4, "multicast"),
    ([240, 0, 0, 0], 4, "reserved"),
];

fn forbidden_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    let within = |net: [u8; 4], length: u32| (bits ^ Ipv4Addr::from(net).to_bits()) >> (32 - length) == 0;
    V4.iter().find(|(net, length, _)| within(*net, *length)).map(|(_, _, what)| *what)
}

fn forbidden_v6(address: Ipv6Addr) -> Option<&'static str> {
    if let Some(inner) = inner_v4(address) {
        return forbidden_v4(inner);
    }
    let [a, b, ..] = address.segments();
    match (a, b) {
        _ if address.is_unspecified() => Some("unspecified"),
        _ if address.is_loopback() => Some("loopback"),
        (0x2001, 0..=0x01ff) => Some("Teredo, or reserved for protocols"),
        (0x2001, 0x0db8) | (0x3fff, 0..=0x0fff) => Some("for documentation"),
        (0x2002, _) => Some("6to4"),
        (0x2000..=0x3fff, _) => None,
        (0xfc00..=0xfdff, _) => Some("private"),
        (0xfe80..=0xfebf, _) => Some("link-local"),
        (0xff00..=0xffff, _) => Some("multicast"),
        _ => Some("not a global address"),
    }
}

/// The address inside `::ffff:a.b.c.d` (mapped) and `64:ff9b::a.b.c.d` (translated).
fn inner_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_public_is_refused_in_every_spelling() {
        let refused = [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.0.1",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::8.8.8.8",
            "100::1",
            "2001::1",
            "2001:0:4136:e378::1",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:0a00:0001::1",
            "2002:0808:0808::1",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ];
        for address in refused {
            assert!(forbidden(address.parse().unwrap()).is_some(), "{address}");
        }
    }

    #[test]
    fn public_addresses_pass() {
        let public = [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "93.184.216.34",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:2800:220:1::1",
            "2a00:1450:4001::1",
            "2001:4860:4860::8888",
            "2001:200::1",
            "3fff:1000::1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
        ];
        for address in public {
            assert_eq!(forbidden(address.parse().unwrap()), None, "{address}");
        }
    }

    #[test]
    fn no_address_carries_a_private_one_past_the_check() {
        for v4 in ["10.1.2.3", "127.0.0.1", "169.254.169.254", "192.168.1.1", "100.64.0.1"] {
            let v4: Ipv4Addr = v4.parse().unwrap();
            let [a, b, c, d] = v4.octets().map(u16::from);
            let (high, low) = (a << 8 | b, c << 8 | d);
            let carriers = [
                Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, high, low),
                Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
                Ipv6Addr::new(0x2001, 0, high, low, 0, 0, 0, 0),
                Ipv6Addr::new(0x2001, 0, 0x0808, 0x0808, 0, 0, !high, !low),
            ];
            for carrier in carriers {
                assert!(forbidden(carrier.into()).is_some(), "{carrier} carries {v4}");
            }
        }
    }
}
