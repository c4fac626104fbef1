//! The TCP addresses on which processes listen, from the kernel's tables in `/proc`.
//!
//! `/proc/PID/net/tcp` lists the sockets of the process's own network namespace, so that the
//! addresses of a sandboxed process are found, too. On Linux only; elsewhere all lists are empty.

use crate::proc_scan;
use crate::shown_command::shown_command;
use agent_bash_os::{ProcessInfo, network_namespace, read_proc};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

/// The state `TCP_LISTEN` in the kernel's tables.
const LISTEN: &str = "0A";

/// A socket of a network namespace that accepts TCP connections.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ListeningSocket {
    address: SocketAddr,
    uid: u32,
    inode: u64,
}

/// The holder of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortHolder {
    /// The process; `None` if `/proc` does not show the process to this user.
    pub pid: Option<u32>,
    /// The user to which the socket belongs.
    pub uid: u32,
    /// The process's command line; empty without a process.
    pub command: String,
    /// The address on which the process listens.
    pub address: SocketAddr,
}

/// Returns the addresses on which each of these processes listens. The map lacks processes without
/// a listening socket, and processes with descriptors that this user may not read.
pub fn listening_addresses(pids: &[u32]) -> BTreeMap<u32, Vec<SocketAddr>> {
    let mut tables: BTreeMap<PathBuf, Vec<ListeningSocket>> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for pid in pids {
        let inodes: BTreeSet<u64> = proc_scan::open_sockets(pid.cast_signed()).collect();
        if inodes.is_empty() {
            continue;
        }
        let network = network_namespace(*pid).unwrap_or_else(|| pid.to_string().into());
        let table = tables
            .entry(network)
            .or_insert_with(|| listening_sockets(&pid.to_string()));
        let own = table.iter().filter(|socket| inodes.contains(&socket.inode));
        let addresses: BTreeSet<SocketAddr> = own.map(|socket| socket.address).collect();
        if !addresses.is_empty() {
            found.insert(*pid, addresses.into_iter().collect());
        }
    }
    found
}

/// Returns the addresses on which any process of the network namespace of `pid` listens.
pub fn addresses_in_network_of(pid: u32) -> Vec<SocketAddr> {
    let sockets = listening_sockets(&pid.to_string()).into_iter();
    sockets.map(|socket| socket.address).collect()
}

/// Returns the inodes of the sockets that listen on a TCP port, in the network of a process.
pub(crate) fn listener_inodes(pid: i32, port: u16) -> Vec<u64> {
    let sockets = listening_sockets(&pid.to_string()).into_iter();
    let sockets = sockets.filter(|socket| socket.address.port() == port);
    sockets.map(|socket| socket.inode).collect()
}

/// Returns the holder of a port in the network namespace of this process. Reads the descriptors of
/// all processes. If several processes have the socket open, returns the oldest.
pub fn port_holder(port: u16) -> Option<PortHolder> {
    let sockets = listening_sockets("self").into_iter();
    let sockets: Vec<ListeningSocket> = sockets
        .filter(|socket| socket.address.port() == port)
        .collect();
    let first = sockets.first()?;
    let listening_socket_of = |process: &ProcessInfo| {
        proc_scan::open_sockets(process.pid)
            .find_map(|inode| sockets.iter().find(|socket| socket.inode == inode))
    };
    let holder = proc_scan::processes()
        .into_iter()
        .filter_map(|process| Some((listening_socket_of(&process)?, process)))
        .min_by_key(|(_, process)| process.start_time);
    Some(match holder {
        Some((socket, process)) => PortHolder {
            pid: Some(process.pid.unsigned_abs()),
            uid: socket.uid,
            command: shown_command(process.pid),
            address: socket.address,
        },
        None => PortHolder {
            pid: None,
            uid: first.uid,
            command: String::new(),
            address: first.address,
        },
    })
}

/// Returns the listening sockets in the network namespace of a process.
fn listening_sockets(pid: &str) -> Vec<ListeningSocket> {
    let tables = ["tcp", "tcp6"].into_iter();
    let tables = tables.filter_map(|name| read_proc(format!("/proc/{pid}/net/{name}")).ok());
    tables
        .flat_map(|table| {
            let table = String::from_utf8_lossy(&table);
            table.lines().filter_map(parse).collect::<Vec<_>>()
        })
        .collect()
}

/// Parses a line of `/proc/net/tcp` or `tcp6`; `None` if its socket does not listen.
fn parse(line: &str) -> Option<ListeningSocket> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    if *fields.get(3)? != LISTEN {
        return None;
    }
    let (address, port) = fields.get(1)?.split_once(':')?;
    Some(ListeningSocket {
        address: SocketAddr::new(parse_address(address)?, u16::from_str_radix(port, 16).ok()?),
        uid: fields.get(7)?.parse().ok()?,
        inode: fields.get(9)?.parse().ok()?,
    })
}

/// Parses an address, which the kernel prints as 32-bit numbers in the byte order of the machine.
fn parse_address(text: &str) -> Option<IpAddr> {
    let bytes = text.as_bytes().chunks(8).map(|digits| {
        let digits = std::str::from_utf8(digits).ok()?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    });
    let bytes: Vec<u8> = bytes.collect::<Option<Vec<_>>>()?.concat();
    if let Ok(v4) = <[u8; 4]>::try_from(&bytes[..]) {
        return Some(Ipv4Addr::from(v4).into());
    }
    Some(Ipv6Addr::from(<[u8; 16]>::try_from(&bytes[..]).ok()?).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn own_listeners_are_found_and_connections_are_not() {
        let v4 = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = v4.local_addr().unwrap();
        let v6 = TcpListener::bind("[::1]:0").ok();
        let client = TcpStream::connect(address).unwrap();
        let own = std::process::id();
        let found = &listening_addresses(&[own, 1 << 30])[&own];
        assert!(found.contains(&address));
        assert!(v6.is_none_or(|v6| found.contains(&v6.local_addr().unwrap())));
        assert!(!found.contains(&client.local_addr().unwrap()));
        assert!(addresses_in_network_of(own).contains(&address));

        let holder = port_holder(address.port()).unwrap();
        assert_eq!((holder.pid, holder.address), (Some(own), address));
        assert!(!holder.command.is_empty());
        drop((v4, client));
        // A child that another test has forked holds the listener until it executes its program.
        assert!((0..1000).any(|_| port_holder(address.port()).is_none()));
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn parse_reads_listening_sockets_only() {
        let line = |address: &str, state: &str| {
            format!(
                "   0: {address} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000  \
                 1000        0 4242 1 0000000000000000 100 0 0 10 0"
            )
        };
        for (address, want) in [
            ("0100007F:1435", "127.0.0.1:5173"),
            ("00000000:0050", "0.0.0.0:80"),
            ("00000000000000000000000001000000:1F90", "[::1]:8080"),
            (
                "B80D01200000000000000000010000FF:0016",
                "[2001:db8::ff00:1]:22",
            ),
        ] {
            let socket = parse(&line(address, "0A")).unwrap();
            assert_eq!(socket.address.to_string(), want);
            assert_eq!((socket.uid, socket.inode), (1000, 4242));
            assert_eq!(parse(&line(address, "01")), None);
        }
        for line in [
            "",
            "  sl  local_address rem_address   st",
            "0: x y 0A",
            "0: 00:zz y 0A",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
