//! Sockets and FIFOs by which a call may request changes from a process that is not traced, such as
//! a build daemon, a terminal multiplexer or a container engine. Such changes are neither recorded
//! nor held back.

use super::touched::{CallArguments, address_path};
use agent_bash_notify::WaitingCall;
use agent_bash_os::{network_namespace, process_of_thread};
use nix::libc::{AF_INET, AF_INET6, AF_UNIX, AF_VSOCK};
use rustix::net::{SocketAddrUnix, SocketType, getsockname, sockopt::socket_type};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::collections::HashSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Socket paths of services that change no files on request: they answer, log, display, play or
/// sign. Even looking up a user name connects to one of them.
const HARMLESS_SERVICES: &[&str] = &[
    "/dev/log",
    "/run/avahi-daemon/",
    "/run/gssproxy.sock",
    "/run/nscd/",
    "/run/nslcd/",
    "/run/pcscd/",
    "/run/systemd/journal/",
    "/run/systemd/notify",
    "/run/systemd/resolve/",
    "/run/systemd/userdb/",
    "/tmp/.ICE-unix/",
    "/tmp/.X11-unix/",
    "/var/db/nscd/",
    "/var/lib/sss/pipes/",
    "/var/run/nscd/",
];

/// Parts of socket paths of harmless services whose directory varies.
const HARMLESS_PARTS: &[&str] = &[
    "/.gnupg/S.",
    "/gnupg/S.",
    "/keyring/",
    "/pipewire-",
    "/pulse/native",
    "/ssh-agent.",
    "/wayland-",
];

/// Abstract socket names of harmless services.
const HARMLESS_NAMES: &[&str] = &["/tmp/.ICE-unix/", "/tmp/.X11-unix/"];

/// The port of the domain name system.
const DNS_PORT: u16 = 53;

/// The sockets and FIFOs of traced processes.
#[derive(Debug, Default)]
pub(super) struct KnownSockets {
    paths: HashSet<PathBuf>,
    names: HashSet<Vec<u8>>,
    ports: HashSet<u16>,
    fifos: HashSet<PathBuf>,
}

/// The address of a peer.
#[derive(Debug, PartialEq, Eq)]
enum Address {
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
        let socket = socket_of(waiting);
        let Some(address) = socket.and_then(|socket| getsockname(socket).ok()) else {
            return;
        };
        if let Ok(address) = SocketAddr::try_from(address.clone()) {
            self.add(Some(internet(address)));
        } else if let Ok(address) = SocketAddrUnix::try_from(address) {
            if let Some(name) = address.abstract_name() {
                self.add(Some(Address::Name(name.to_vec())));
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

    fn add(&mut self, address: Option<Address>) {
        match address {
            Some(Address::Path(path)) => {
                self.paths.insert(path);
            }
            Some(Address::Name(name)) => {
                self.names.insert(name);
            }
            Some(Address::Internet(address)) if address.port() != 0 => {
                self.ports.insert(address.port());
            }
            Some(Address::Internet(_) | Address::Virtual) | None => {}
        }
    }

    /// Returns why this connection may cause changes. `None` if its peer is a traced process,
    /// another machine or a harmless service, or does not exist. `argument` is the number of the
    /// address; without one, a message in the second argument has it.
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
        let to = match &address {
            Address::Path(path) => {
                let is_excluded = excluded.iter().any(|excluded| path.starts_with(excluded));
                if is_excluded || self.paths.contains(path) || is_harmless(path) {
                    return None;
                }
                path.display().to_string()
            }
            Address::Name(name) => {
                let text = String::from_utf8_lossy(name);
                let is_harmless = HARMLESS_NAMES.iter().any(|it| text.starts_with(it));
                if is_harmless || self.names.contains(name) || has_own_network(waiting.thread) {
                    return None;
                }
                format!("@{}", text.escape_debug())
            }
            Address::Internet(address) => {
                let is_known = self.ports.contains(&address.port()) || address.port() == DNS_PORT;
                if is_known
                    || !is_local_address(address.ip(), waiting.thread)
                    || has_own_network(waiting.thread)
                    || !is_stream(waiting)
                {
                    return None;
                }
                address.to_string()
            }
            Address::Virtual => "the machine that this one runs on".to_owned(),
        };
        Some(external_change(&format!("at {to}")))
    }
}

fn external_change(place: &str) -> String {
    format!("a process outside of the call, {place}, may have changed files on its request")
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
    HARMLESS_SERVICES
        .iter()
        .any(|known| path.starts_with(known))
        || HARMLESS_PARTS.iter().any(|known| path.contains(known))
        || path.contains("/ssh-") && is_agent()
}

fn parse_address(waiting: &WaitingCall, (family, rest): (u16, Vec<u8>)) -> Option<Address> {
    match i32::from(family) {
        AF_UNIX => match rest.first()? {
            0 => Some(Address::Name(rest[1..].to_vec())),
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
        AF_VSOCK => Some(Address::Virtual),
        _ => None,
    }
}

fn internet(address: SocketAddr) -> Address {
    Address::Internet(SocketAddr::new(address.ip().to_canonical(), address.port()))
}

/// Returns a socket by its path; `None` if it does not exist.
fn local_socket(waiting: &WaitingCall, path: &[u8]) -> Option<Address> {
    let file = CallArguments { waiting }.file_at(path).ok().flatten()?;
    // The file of a socket does not exist before the socket is bound.
    let number = i64::from(waiting.number);
    let is_bound = number == nix::libc::SYS_bind || number == nix::libc::SYS_listen;
    let exists = is_bound || file.kind().is_some();
    let path = file.path().ok().filter(|_| exists)?;
    Some(Address::Path(path))
}

/// Duplicates the socket in the first argument.
fn socket_of(waiting: &WaitingCall) -> Option<OwnedFd> {
    let process = Pid::from_raw(process_of_thread(waiting.thread)?)?;
    let process = pidfd_open(process, PidfdFlags::empty()).ok()?;
    let number = CallArguments { waiting }.number(0);
    pidfd_getfd(process, number, PidfdGetfdFlags::empty()).ok()
}

/// True if this supervisor or its host has the file open. For example, the output of a session is a
/// FIFO, which may have a second name in its directory.
fn is_open_in_host(path: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
    let is_it = |file: PathBuf| {
        fs::read_link(&file).is_ok_and(|target| {
            target.parent() == path.parent()
                && identity(path).is_ok_and(|own| identity(&file).is_ok_and(|it| it == own))
        })
    };
    let host = rustix::process::getppid().map(|host| host.as_raw_nonzero().to_string());
    ["self".to_owned()].into_iter().chain(host).any(|process| {
        let files = fs::read_dir(format!("/proc/{process}/fd"));
        let mut files = files.into_iter().flatten().flatten();
        files.any(|file| is_it(file.path()))
    })
}

/// True unless the socket sends datagrams.
fn is_stream(waiting: &WaitingCall) -> bool {
    let socket = socket_of(waiting);
    let kind = socket.and_then(|socket| socket_type(socket).ok());
    kind.is_none_or(|kind| kind != SocketType::DGRAM)
}

/// True if the thread is in another network namespace, which contains only traced processes.
fn has_own_network(thread: i32) -> bool {
    let theirs = network_namespace(thread.unsigned_abs());
    theirs.is_some() && theirs != network_namespace(std::process::id())
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
            let mut lines = table.lines();
            while let Some(at) = lines.next() {
                if at.trim() == line
                    && lines
                        .clone()
                        .next()
                        .is_some_and(|next| next.contains("host LOCAL"))
                {
                    return true;
                }
            }
            false
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
        ] {
            assert!(is_harmless(Path::new(path)), "{path}");
        }
        for path in ["/run/docker.sock", "/tmp/tmux-0/default", "/tmp/agent.4711"] {
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
