//! Sockets and FIFOs by which a call may request changes from a process that is not traced, such as
//! a build daemon, a terminal multiplexer or a container engine. Such changes are neither recorded
//! nor held back.

use super::touched::{CallArguments, address_path};
use crate::askpass::is_askpass_socket;
use crate::listening::listener_inodes;
use agent_bash_core::words;
use agent_bash_notify::WaitingCall;
use agent_bash_os::{network_namespace, process_of_thread, read_proc};
use nix::libc::{AF_INET, AF_INET6, AF_UNIX, AF_VSOCK};
use rustix::fs::fstat;
use rustix::net::sockopt::socket_type;
use rustix::net::{SocketAddrUnix, SocketType, getpeername, getsockname};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Socket paths of services that change no files on request: they answer, log, display, play or
/// sign. Even looking up a user name connects to one of them.
const HARMLESS_SERVICES: &[&str] = words![
    "/dev/log /mnt/wslg/ /run/avahi-daemon/ /run/gssproxy.sock /run/nscd/ /run/nslcd/ /run/pcscd/",
    "/run/systemd/journal/ /run/systemd/notify /run/systemd/resolve/ /run/systemd/userdb/",
    "/tmp/.ICE-unix/ /tmp/.X11-unix/ /var/db/nscd/ /var/lib/sss/pipes/ /var/run/nscd/",
];

/// Beginnings of the names of harmless services in a user's directory of sockets.
const HARMLESS_USER_SERVICES: &[&str] =
    words!["gnupg/ keyring/ pipewire- pulse/native ssh-agent wayland-"];

/// The directories of all users' sockets; the user's number follows.
const USER_DIRECTORIES: &[&str] = &["/run/user/", "/var/run/user/"];

/// Abstract socket names of harmless services.
const HARMLESS_NAMES: &[&str] = &["/tmp/.ICE-unix/", "/tmp/.X11-unix/"];

/// The port of the domain name system.
const DNS_PORT: u16 = 53;

/// The sockets and FIFOs of traced processes.
#[derive(Debug, Default)]
pub(super) struct KnownSockets {
    paths: HashSet<PathBuf>,
    names: HashSet<Vec<u8>>,
    /// The inodes of the listening sockets. An address does not identify such a socket: after its
    /// end, an outside process can listen at the same address.
    listeners: HashSet<u64>,
    fifos: HashSet<PathBuf>,
}

#[derive(Debug, PartialEq, Eq)]
enum PeerAddress {
    Path(PathBuf),
    /// An abstract name.
    Name(Vec<u8>),
    Internet(SocketAddr),
    /// Another virtual machine, or the host of this one.
    Virtual,
}

impl KnownSockets {
    /// Records that a traced process binds a socket to an address.
    pub(super) fn record_bind(&mut self, waiting: &WaitingCall) {
        let address = CallArguments { waiting }.address(1, 2).ok().flatten();
        let address = address.and_then(|address| parse_address(waiting, address));
        self.add(address);
    }

    /// Records that a traced process listens on a socket, whose port is known by now.
    pub(super) fn record_listen(&mut self, waiting: &WaitingCall) {
        let Some(socket) = socket_of(waiting) else {
            return;
        };
        self.listeners
            .extend(fstat(&socket).map(|found| found.st_ino));
        if let Ok(address) = getsockname(socket)
            && let Ok(address) = SocketAddrUnix::try_from(address)
        {
            if let Some(name) = address.abstract_name() {
                self.add(Some(PeerAddress::Name(name.to_vec())));
            } else if let Some(path) = address.path() {
                self.add(local_socket(waiting, path.to_bytes()));
            }
        }
    }

    pub(super) fn record_fifo(&mut self, path: PathBuf) {
        self.fifos.insert(path);
    }

    /// True if writing to this FIFO was found to cause no changes.
    pub(super) fn knows_fifo(&self, path: &Path) -> bool {
        self.fifos.contains(path)
    }

    /// Returns why writing to a FIFO may cause changes; `None` if a traced process created it.
    pub(super) fn fifo_write_reason(&mut self, path: &Path) -> Option<String> {
        let is_known = self.knows_fifo(path);
        if !is_known && is_open_in_host(path) {
            self.fifos.insert(path.to_owned());
            return None;
        }
        (!is_known).then(|| external_change(&format!("through the FIFO {}", path.display())))
    }

    fn add(&mut self, address: Option<PeerAddress>) {
        match address {
            Some(PeerAddress::Path(path)) => {
                self.paths.insert(path);
            }
            Some(PeerAddress::Name(name)) => {
                self.names.insert(name);
            }
            Some(PeerAddress::Internet(_) | PeerAddress::Virtual) | None => {}
        }
    }

    /// Returns why this connection may cause changes. `None` if its peer is a traced process,
    /// another machine or a harmless service, or does not exist. `argument` is the index of the
    /// address argument; if `None`, the message in the second argument contains the address.
    pub(super) fn connection_reason(
        &self,
        waiting: &WaitingCall,
        argument: Option<u8>,
        excluded: &[PathBuf],
    ) -> Option<String> {
        let arguments = CallArguments { waiting };
        let address = match argument {
            Some(argument) => arguments.address(argument, argument + 1),
            None => arguments.address_of_message(),
        };
        let address = address.ok().flatten();
        let address = address.and_then(|address| parse_address(waiting, address))?;
        self.peer_reason(&address, waiting.thread, excluded, || is_stream(waiting))
    }

    /// Returns why a socket that a process has open may cause changes, like
    /// [`Self::connection_reason`]; `None` if it is not connected, or was accepted.
    pub(super) fn open_socket_reason(
        &self,
        process: i32,
        number: i32,
        excluded: &[PathBuf],
    ) -> Option<String> {
        let socket = duplicated(process, number)?;
        let peer = getpeername(&socket).ok()??;
        let address = if let Ok(address) = SocketAddr::try_from(peer.clone()) {
            let own = SocketAddr::try_from(getsockname(&socket).ok()?).ok()?;
            if self.has_only_known_port_listeners(own.port(), process) {
                return None;
            }
            internet(address)
        } else {
            let peer = SocketAddrUnix::try_from(peer).ok()?;
            match (peer.abstract_name(), peer.path()) {
                (Some(name), _) if !name.is_empty() => PeerAddress::Name(name.to_vec()),
                (_, Some(path)) if !path.is_empty() => {
                    PeerAddress::Path(PathBuf::from(OsStr::from_bytes(path.to_bytes())))
                }
                // A socket pair, or an accepted connection.
                _ => return None,
            }
        };
        self.peer_reason(&address, process, excluded, || is_stream_socket(&socket))
    }

    fn peer_reason(
        &self,
        address: &PeerAddress,
        thread: i32,
        excluded: &[PathBuf],
        is_stream: impl Fn() -> bool,
    ) -> Option<String> {
        let peer = match address {
            PeerAddress::Path(path) => {
                let is_excluded = excluded.iter().any(|excluded| path.starts_with(excluded));
                let is_own = || {
                    let name = path.as_os_str().as_bytes();
                    self.paths.contains(path) && self.has_only_known_listeners(name, thread)
                };
                if is_excluded || is_harmless(path) || is_askpass_socket(path) || is_own() {
                    return None;
                }
                path.display().to_string()
            }
            PeerAddress::Name(name) => {
                let text = String::from_utf8_lossy(name);
                let is_harmless = HARMLESS_NAMES.iter().any(|known| text.starts_with(known));
                let listed = [b"@", &name[..]].concat();
                // A process may have entered the network of an outside process (`nsenter`), so a
                // network of its own can have outside listeners, too.
                let is_own = || {
                    (self.names.contains(name) || is_in_other_network(thread))
                        && self.has_only_known_listeners(&listed, thread)
                };
                if is_harmless || is_own() {
                    return None;
                }
                format!("@{}", text.escape_debug())
            }
            PeerAddress::Internet(address) => {
                if address.port() == DNS_PORT
                    || !is_local_address(address.ip(), thread)
                    || self.has_only_known_port_listeners(address.port(), thread)
                    || is_in_other_network(thread)
                        && listener_inodes(thread, address.port()).is_empty()
                    || !is_stream()
                {
                    return None;
                }
                address.to_string()
            }
            PeerAddress::Virtual => "the machine that this one runs on".to_owned(),
        };
        Some(external_change(&format!("at {peer}")))
    }

    /// True if only traced processes listen on a TCP port, in the network of this thread.
    fn has_only_known_port_listeners(&self, port: u16, thread: i32) -> bool {
        let inodes = listener_inodes(thread, port);
        !inodes.is_empty() && inodes.iter().all(|inode| self.listeners.contains(inode))
    }

    /// True if no outside process listens at a path or an abstract name, as the kernel lists it.
    fn has_only_known_listeners(&self, name: &[u8], thread: i32) -> bool {
        let Ok(table) = read_proc(format!("/proc/{thread}/net/unix")) else {
            return false;
        };
        unix_listeners(&table, name).all(|inode| self.listeners.contains(&inode))
    }
}

/// Returns the inodes of the Unix sockets that listen at a name, by the kernel's table: address,
/// references, protocol, flags, type, state, inode, name.
fn unix_listeners<'a>(table: &'a [u8], name: &'a [u8]) -> impl Iterator<Item = u64> + 'a {
    /// `__SO_ACCEPTCON` in the column of flags.
    const LISTENS: &[u8] = b"00010000";
    table.split(|byte| *byte == b'\n').filter_map(move |line| {
        let line = line.strip_suffix(name)?.strip_suffix(b" ")?;
        let fields = line.split(u8::is_ascii_whitespace);
        let mut fields = fields.filter(|field| !field.is_empty());
        let listens = fields.nth(3)? == LISTENS;
        let inode = std::str::from_utf8(fields.nth(2)?).ok()?.parse().ok()?;
        (listens && fields.next().is_none()).then_some(inode)
    })
}

fn external_change(peer: &str) -> String {
    format!("a process outside, {peer}, may have changed files at the request of the call")
}

fn is_harmless(path: &Path) -> bool {
    let path = path.to_string_lossy();
    let is_agent = || {
        let agent = path
            .rsplit('/')
            .next()
            .and_then(|name| name.strip_prefix("agent."));
        agent.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_of_user = || {
        let mut directories = USER_DIRECTORIES.iter();
        let below = directories.find_map(|directory| path.strip_prefix(directory));
        let name = below.and_then(|below| Some(below.split_once('/')?.1));
        name.is_some_and(|name| {
            let mut services = HARMLESS_USER_SERVICES.iter();
            services.any(|known| name.starts_with(known))
        })
    };
    let in_directory = |found: &str| {
        let directory = path.rsplit('/').nth(1);
        directory.is_some_and(|name| name.starts_with(found))
    };
    HARMLESS_SERVICES
        .iter()
        .any(|known| path.starts_with(known))
        || is_of_user()
        || in_directory(".gnupg") && path.contains("/S.")
        || in_directory("ssh-") && is_agent()
        || in_directory("agent") && path.contains("/.ssh/agent/s.")
}

fn parse_address(waiting: &WaitingCall, (family, rest): (u16, Vec<u8>)) -> Option<PeerAddress> {
    match i32::from(family) {
        AF_UNIX => match rest.first()? {
            0 => Some(PeerAddress::Name(rest[1..].to_vec())),
            _ => local_socket(waiting, &address_path(&rest)?),
        },
        AF_INET => {
            let (port, rest) = rest.split_first_chunk::<2>()?;
            let ip = Ipv4Addr::from(*rest.first_chunk::<4>()?);
            let address = SocketAddr::from((ip, u16::from_be_bytes(*port)));
            Some(internet(address))
        }
        AF_INET6 => {
            let (port, rest) = rest.split_first_chunk::<2>()?;
            let ip = Ipv6Addr::from(*rest.get(4..)?.first_chunk::<16>()?);
            let address = SocketAddr::from((ip, u16::from_be_bytes(*port)));
            Some(internet(address))
        }
        AF_VSOCK => Some(PeerAddress::Virtual),
        _ => None,
    }
}

fn internet(address: SocketAddr) -> PeerAddress {
    PeerAddress::Internet(SocketAddr::new(address.ip().to_canonical(), address.port()))
}

/// Returns a socket by its path; `None` if it does not exist.
fn local_socket(waiting: &WaitingCall, path: &[u8]) -> Option<PeerAddress> {
    let file = CallArguments { waiting }.file_at(path).ok().flatten()?;
    // The file of a socket does not exist before the socket is bound.
    let number = i64::from(waiting.number);
    let is_bound = number == nix::libc::SYS_bind || number == nix::libc::SYS_listen;
    let exists = is_bound || file.kind().is_some();
    let path = file.path().ok().filter(|_| exists)?;
    Some(PeerAddress::Path(path))
}

/// Duplicates the socket in the first argument.
fn socket_of(waiting: &WaitingCall) -> Option<OwnedFd> {
    let process = process_of_thread(waiting.thread)?;
    duplicated(process, CallArguments { waiting }.number(0))
}

fn duplicated(process: i32, number: i32) -> Option<OwnedFd> {
    let process = pidfd_open(Pid::from_raw(process)?, PidfdFlags::empty()).ok()?;
    pidfd_getfd(process, number, PidfdGetfdFlags::empty()).ok()
}

/// True if this supervisor or its host has the file open. For example, the output of a session is a
/// FIFO, which may have a second name in its directory.
fn is_open_in_host(path: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
    let is_same_file = |file: PathBuf| {
        fs::read_link(&file).is_ok_and(|target| {
            target.parent() == path.parent()
                && identity(path).is_ok_and(|own| identity(&file).is_ok_and(|other| other == own))
        })
    };
    let host = rustix::process::getppid().map(|host| host.as_raw_nonzero().to_string());
    ["self".to_owned()].into_iter().chain(host).any(|process| {
        let files = fs::read_dir(format!("/proc/{process}/fd"));
        let mut files = files.into_iter().flatten().flatten();
        files.any(|file| is_same_file(file.path()))
    })
}

/// True unless the socket sends datagrams.
fn is_stream(waiting: &WaitingCall) -> bool {
    socket_of(waiting).is_none_or(|socket| is_stream_socket(&socket))
}

fn is_stream_socket(socket: &OwnedFd) -> bool {
    socket_type(socket) != Ok(SocketType::DGRAM)
}

/// True if the thread is in another network namespace than this process.
fn is_in_other_network(thread: i32) -> bool {
    let network = network_namespace(thread.unsigned_abs());
    network.is_some() && network != network_namespace(std::process::id())
}

/// True if this machine has the address.
fn is_local_address(ip: IpAddr, thread: i32) -> bool {
    if ip.is_loopback() || ip.is_unspecified() {
        return true;
    }
    let read = |name: &str| fs::read(format!("/proc/{thread}/net/{name}")).unwrap_or_default();
    match ip {
        // Each local address is followed by a line with `host LOCAL`.
        IpAddr::V4(ip) => {
            let table = String::from_utf8_lossy(&read("fib_trie")).into_owned();
            let line = format!("|-- {ip}");
            let lines: Vec<&str> = table.lines().collect();
            let is_local = |pair: &[&str]| pair[0].trim() == line && pair[1].contains("host LOCAL");
            lines.windows(2).any(is_local)
        }
        IpAddr::V6(ip) => {
            let digits = format!("{:032x}", u128::from(ip));
            let table = String::from_utf8_lossy(&read("if_inet6")).into_owned();
            table.lines().any(|line| line.starts_with(&digits))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_harmless_distinguishes_services_from_engines() {
        for path in [
            "/run/systemd/userdb/io.systemd.DynamicUser",
            "/tmp/ssh-XXaQ/agent.4711",
            "/home/me/.gnupg/S.gpg-agent",
            "/run/user/1000/gnupg/S.gpg-agent",
            "/run/user/1000/keyring/ssh",
            "/run/user/1000/wayland-0",
        ] {
            assert!(is_harmless(Path::new(path)), "{path}");
        }
        for path in [
            "/run/docker.sock",
            "/tmp/tmux-0/default",
            "/tmp/agent.4711",
            "/home/me/keyring/build.sock",
            "/home/me/wayland-tools/daemon.sock",
            "/run/user/1000/podman/podman.sock",
        ] {
            assert!(!is_harmless(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn is_local_address_is_false_for_other_machines() {
        let own = std::process::id().cast_signed();
        assert!(is_local_address(Ipv4Addr::LOCALHOST.into(), own));
        assert!(is_local_address(Ipv6Addr::LOCALHOST.into(), own));
        assert!(!is_local_address(Ipv4Addr::new(192, 0, 2, 1).into(), own));
    }
}
