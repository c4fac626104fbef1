//! Public addresses. They lead into the internet, not to this machine or its networks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// IPv4 networks that are not public, from IANA's registry of special-purpose addresses.
const SPECIAL_V4: &[([u8; 4], u8)] = &[
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    // Carrier-grade NAT; Alibaba's metadata server is 100.100.100.200.
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    // Link-local; the metadata server of most clouds is 169.254.169.254.
    ([169, 254, 0, 0], 16),
    // Azure's wire server, which answers only to its own virtual machines.
    ([168, 63, 129, 16], 32),
    ([172, 16, 0, 0], 12),
    // IETF protocols; Oracle's metadata server is 192.0.0.192.
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

/// IPv6 networks that are not public, within the global unicast addresses (`2000::/3`).
const SPECIAL_V6: &[(Ipv6Addr, u8)] = &[
    // IETF protocols, with Teredo, which wraps an IPv4 address.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    // 6to4, which wraps an IPv4 address.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// The prefix of NAT64, whose last four bytes are an IPv4 address.
const NAT64: Ipv6Addr = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0);

/// True if the address is public. An IPv6 address that contains an IPv4 address is public if the
/// IPv4 address is public.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) if shares_prefix(address, NAT64, 96) => {
            let [.., a, b, c, d] = address.octets();
            is_public_v4(Ipv4Addr::new(a, b, c, d))
        }
        IpAddr::V6(address) => {
            let is_special = |(network, bits): &(_, _)| shares_prefix(address, *network, *bits);
            address.octets()[0] & 0xe0 == 0x20 && !SPECIAL_V6.iter().any(is_special)
        }
    }
}

/// True if this machine has the address, also a public one. A connection to it reaches servers that
/// a firewall hides from the internet.
pub(crate) fn is_of_this_machine(address: IpAddr) -> bool {
    // The kernel lets a socket have only an address of the machine.
    UdpSocket::bind((address.to_canonical(), 0)).is_ok()
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !SPECIAL_V4.iter().any(|(network, bits)| {
        let difference = address.to_bits() ^ Ipv4Addr::from(*network).to_bits();
        difference >> (32 - bits) == 0
    })
}

fn shares_prefix(address: Ipv6Addr, network: Ipv6Addr, bits: u8) -> bool {
    (address.to_bits() ^ network.to_bits()) >> (128 - bits) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::words;

    #[test]
    fn is_of_this_machine_finds_addresses_of_interfaces() {
        for (text, want) in [
            ("127.0.0.1", true),
            ("::ffff:127.0.0.1", true),
            ("192.0.2.1", false),
            ("2001:db8::1", false),
        ] {
            assert_eq!(is_of_this_machine(text.parse().unwrap()), want, "{text}");
        }
    }

    #[test]
    fn is_public_refuses_special_addresses_and_their_wrapped_forms() {
        for (want, texts) in [
            (
                true,
                words![
                    "93.184.216.34 1.1.1.1 100.63.255.255 172.32.0.1 223.255.255.255",
                    "168.63.129.17 2606:4700::1111 2a00:1450::1 ::ffff:1.1.1.1 64:ff9b::1.1.1.1",
                ],
            ),
            (
                false,
                words![
                    "0.0.0.0 0.1.2.3 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1",
                    "127.255.255.254 168.63.129.16 169.254.169.254 172.16.0.1 172.31.255.255",
                    "192.0.0.192 192.168.1.1 198.19.0.1 224.0.0.251 255.255.255.255 :: ::1",
                    "::127.0.0.1 ::ffff:127.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::10.0.0.1",
                    "64:ff9b::169.254.169.254 64:ff9b:1::1.1.1.1 2001::1 2001:db8::1",
                    "2002:7f00:1:: 2002:0101:0101:: 3fff::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1",
                    "ff02::1 100::1 4000::1",
                ],
            ),
        ] {
            for &text in texts {
                assert_eq!(is_public(text.parse().unwrap()), want, "{text}");
            }
        }
    }
}
