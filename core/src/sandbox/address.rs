//! Which addresses are on the public internet.
//!
//! The table holds what the special-purpose registries of IANA (RFC 6890, as of 2026) and the multicast registries say is
//! not globally reachable. Forms that carry another address inside them (IPv4-mapped and IPv4-compatible, NAT64, 6to4,
//! Teredo) are refused whole, whatever they carry.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range of IPv4 addresses: its first address, and the bits that all of them share.
type V4 = (Ipv4Addr, u32);
/// A range of IPv6 addresses.
type V6 = (Ipv6Addr, u32);

const fn v4(a: u8, b: u8, c: u8, d: u8, bits: u32) -> V4 {
    (Ipv4Addr::new(a, b, c, d), bits)
}

const fn v6(first: [u16; 8], bits: u32) -> V6 {
    let [a, b, c, d, e, f, g, h] = first;
    (Ipv6Addr::new(a, b, c, d, e, f, g, h), bits)
}

/// IPv4 addresses that are not public.
const CLOSED_V4: &[V4] = &[
    v4(0, 0, 0, 0, 8),        // this network (RFC 791)
    v4(10, 0, 0, 0, 8),       // private (RFC 1918)
    v4(100, 64, 0, 0, 10),    // shared by carriers (RFC 6598)
    v4(127, 0, 0, 0, 8),      // loopback (RFC 1122)
    v4(168, 63, 129, 16, 32), // a cloud's service for its machines
    v4(169, 254, 0, 0, 16),   // link-local, and metadata of clouds (RFC 3927)
    v4(172, 16, 0, 0, 12),    // private (RFC 1918)
    v4(192, 0, 0, 0, 24),     // protocol assignments (RFC 6890)
    v4(192, 0, 2, 0, 24),     // documentation (RFC 5737)
    v4(192, 31, 196, 0, 24),  // AS112 (RFC 7535)
    v4(192, 52, 193, 0, 24),  // automatic multicast tunneling (RFC 7450)
    v4(192, 88, 99, 0, 24),   // 6to4 relays, given up (RFC 7526)
    v4(192, 168, 0, 0, 16),   // private (RFC 1918)
    v4(192, 175, 48, 0, 24),  // AS112 (RFC 7534)
    v4(198, 18, 0, 0, 15),    // benchmarks (RFC 2544)
    v4(198, 51, 100, 0, 24),  // documentation (RFC 5737)
    v4(203, 0, 113, 0, 24),   // documentation (RFC 5737)
    v4(224, 0, 0, 0, 4),      // multicast (RFC 5771)
    v4(240, 0, 0, 0, 4),      // reserved, and broadcast (RFC 1112)
];

/// IPv6 addresses that may be public; all others are not (RFC 4291: global unicast).
const OPEN_V6: V6 = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// Those among them that are not.
const CLOSED_V6: &[V6] = &[
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), // protocol assignments: Teredo, ORCHID … (RFC 2928)
    v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), // documentation (RFC 3849)
    v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), // 6to4 (RFC 3056)
    v6([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48), // AS112 (RFC 7534)
    v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), // documentation (RFC 9637)
];

/// Whether an address is on the public internet.
///
/// ```
/// use cheliped::sandbox::address::is_public;
/// assert!(is_public("93.184.215.14".parse().unwrap()));
/// for closed in ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fd00::1", "::ffff:127.0.0.1", "64:ff9b::8.8.8.8"] {
///     assert!(!is_public(closed.parse().unwrap()), "{closed}");
/// }
/// ```
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => has_v6(&OPEN_V6, address) && !CLOSED_V6.iter().any(|range| has_v6(range, address)),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let has = |(first, bits): &V4| (address.to_bits() ^ first.to_bits()).checked_shr(32 - bits).unwrap_or(0) == 0;
    !CLOSED_V4.iter().any(has)
}

fn has_v6((first, bits): &V6, address: Ipv6Addr) -> bool {
    (address.to_bits() ^ first.to_bits()).checked_shr(128 - bits).unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits of an address behind those that a range shares.
    fn mask(bits: u32) -> u32 {
        u32::MAX.checked_shr(bits).unwrap_or(0)
    }

    #[test]
    fn every_range_is_closed_from_its_first_address_to_its_last() {
        for (first, bits) in CLOSED_V4 {
            let last = Ipv4Addr::from_bits(first.to_bits() | (mask(*bits)));
            assert_eq!(first.to_bits() & (mask(*bits)), 0, "{first}/{bits} does not begin where it says");
            assert!(!is_public((*first).into()) && !is_public(last.into()), "{first}/{bits}");
        }
        for (first, bits) in CLOSED_V6 {
            let last = Ipv6Addr::from_bits(first.to_bits() | (u128::MAX >> bits));
            assert_eq!(first.to_bits() & (u128::MAX >> bits), 0, "{first}/{bits} does not begin where it says");
            assert!(!is_public((*first).into()) && !is_public(last.into()), "{first}/{bits}");
        }
    }

    #[test]
    fn what_stands_beside_the_ranges_is_public() {
        for open in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "198.51.99.255",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "2001:200::1",
            "2001:db7::1",
            "2001:db9::1",
            "2003::1",
            "2606:4700::1111",
            "3ffe::1",
        ] {
            assert!(is_public(open.parse().unwrap()), "{open}");
        }
    }

    #[test]
    fn what_no_table_opens_is_closed() {
        for closed in [
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:1.1.1.1",
            "64:ff9b::1.1.1.1",
            "64:ff9b::a00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:1ff::1",
            "2002:7f00:1::",
            "3fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "255.255.255.255",
        ] {
            assert!(!is_public(closed.parse().unwrap()), "{closed}");
        }
    }
}
