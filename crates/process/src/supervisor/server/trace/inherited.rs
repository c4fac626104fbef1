//! The kinds of files that a sandboxed process may inherit.

use agent_bash_os::proc_path;
use rustix::fs::{FileType, PROC_SUPER_MAGIC, Stat, fstat, fstatfs, major, minor};
use rustix::io::Errno;
use rustix::net::sockopt::{socket_domain, socket_type};
use rustix::net::{AddressFamily, SocketType, getpeername};
use rustix::termios::isatty;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Files without a path by which processes get only events of their own. Others give access to
/// processes, memory, mounts or the kernel.
const EVENT_FILES: [&[u8]; 5] = [
    b"anon_inode:[eventfd]", b"anon_inode:[eventpoll]", b"anon_inode:[signalfd]",
    b"anon_inode:[timerfd]", b"anon_inode:inotify",
];

/// The device of a pty master, which types into a terminal.
const PTY_MASTER: (u32, u32) = (5, 2);

/// The major number of the masters of the former pty devices.
const FORMER_PTY_MASTERS: u32 = 2;

/// True if a process could leave its sandbox by one of these descriptors, for example by a socket
/// that sends to any address, a directory without the sandbox's mounts, or a pty master. With
/// `allows_network`, sockets of the network are not such descriptors.
pub(in crate::supervisor::server) fn inherits_unconfined_file(
    numbers: impl IntoIterator<Item = i32>,
    allows_network: bool,
) -> bool {
    numbers
        .into_iter()
        .any(|number| match agent_bash_notify::inherited(number) {
            Ok(file) => !is_confined(&file, allows_network),
            // A closed descriptor is not inherited.
            Err(error) => error.raw_os_error() != Some(Errno::BADF.raw_os_error()),
        })
}

/// True if processes reach nothing else by this file than its contents.
fn is_confined(file: &OwnedFd, allows_network: bool) -> bool {
    let Ok(stat) = fstat(file) else {
        return false;
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Socket => is_confined_socket(file, allows_network),
        FileType::Fifo => true,
        FileType::CharacterDevice => is_confined_device(file, &stat),
        FileType::Directory | FileType::BlockDevice | FileType::Symlink => false,
        // Files without a path may be regular files, or have no kind.
        kind => fs::read_link(proc_path(file)).is_ok_and(|link| {
            let is_regular = kind == FileType::RegularFile;
            EVENT_FILES.contains(&link.as_os_str().as_bytes())
                || is_regular && link.is_absolute() && !is_memory(file, &link)
        }),
    }
}

/// True if this socket cannot get another peer than those that `allows_network` permits.
fn is_confined_socket(socket: &OwnedFd, allows_network: bool) -> bool {
    match socket_domain(socket) {
        Ok(AddressFamily::UNIX) => {
            let kind = socket_type(socket);
            // A connected stream keeps its peer. A datagram socket sends to any address.
            let is_stream = matches!(kind, Ok(SocketType::STREAM | SocketType::SEQPACKET));
            is_stream && getpeername(socket).is_ok()
        }
        Ok(_) => allows_network,
        Err(_) => false,
    }
}

/// True for terminals and for devices without a state.
fn is_confined_device(file: impl AsFd, stat: &Stat) -> bool {
    match (major(stat.st_rdev), minor(stat.st_rdev)) {
        PTY_MASTER | (FORMER_PTY_MASTERS, _) => false,
        // First null, zero, full, random and urandom. The others are consoles and serial lines,
        // /dev/tty and /dev/console, and pseudoterminals: the system does not always recognize a
        // terminal that was hung up.
        (1, 3 | 5 | 7..=9) | (4 | 136..=143, _) | (5, 0 | 1) => true,
        _ => isatty(file),
    }
}

/// True for the memory of a process, or of the kernel.
fn is_memory(file: impl AsFd, link: &Path) -> bool {
    let is_proc = fstatfs(file).is_ok_and(|found| found.f_type == PROC_SUPER_MAGIC);
    is_proc && (link.ends_with("mem") || link.ends_with("kcore"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{EventfdFlags, eventfd};
    use rustix::fs::{Mode, OFlags, open};
    use rustix::process::{PidfdFlags, getpid, pidfd_open};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::os::fd::AsRawFd;

    fn is_refused(file: &OwnedFd) -> bool {
        inherits_unconfined_file([file.as_raw_fd()], true)
    }

    fn opened(path: impl rustix::path::Arg, flags: OFlags) -> OwnedFd {
        open(path, flags | OFlags::CLOEXEC, Mode::empty()).unwrap()
    }

    #[test]
    fn inherited_pty_master_is_refused_and_its_terminal_is_not() {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC);
        let master = master.unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let terminal = opened(name, OFlags::RDWR | OFlags::NOCTTY);
        assert!(!is_refused(&terminal));
        assert!(is_refused(&master));
        drop(master);
        // Without its master, the terminal is hung up.
        assert!(!is_refused(&terminal));
    }

    #[test]
    fn inherited_file_is_refused_unless_its_kind_is_harmless() {
        let (read, write) = std::io::pipe().unwrap();
        let memory = rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::CLOEXEC);
        let event = eventfd(0, EventfdFlags::CLOEXEC).unwrap();
        let mut allowed = vec![read.into(), write.into(), memory.unwrap(), event];
        for path in [
            "/dev/null", "/dev/zero", "/dev/urandom", "/proc/self/status",
        ] {
            allowed.push(opened(path, OFlags::RDONLY));
        }
        for file in allowed {
            assert!(!is_refused(&file), "{:?}", fs::read_link(proc_path(&file)));
        }
        let mut refused = vec![pidfd_open(getpid(), PidfdFlags::empty()).unwrap()];
        for path in ["/", "/proc/self/mem", "/proc/self/ns/mnt", "/dev/ptmx"] {
            refused.push(opened(path, OFlags::RDONLY | OFlags::NOCTTY));
        }
        for file in refused {
            assert!(is_refused(&file), "{:?}", fs::read_link(proc_path(&file)));
        }
        assert!(!inherits_unconfined_file([-1], true));
    }
}
