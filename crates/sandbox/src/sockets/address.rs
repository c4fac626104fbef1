//! Addresses of a waiting `connect`: copied once from the memory of the process, then parsed.

use super::table::SocketInode;
use crate::trace::memory;
use agent_bash_os::mountinfo_fields;
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2, readlinkat};
use rustix::io::Errno;
use rustix::net::SocketAddrUnix;
use std::ffi::OsStr;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

/// The size of `struct sockaddr_storage`, the largest address that the kernel accepts.
const MAX_BYTES: usize = 128;

/// The size of `struct sockaddr_un`.
const MAX_UNIX_BYTES: usize = 110;

/// The target of a connection.
#[derive(Debug)]
pub(super) enum Target {
    /// The address `AF_UNSPEC`, which ends an association.
    Unspecified,
    Internet(SocketAddr),
    Abstract(SocketAddrUnix),
    /// The file of a socket, opened with `O_PATH`.
    File(OwnedFd),
}

/// A Unix address.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UnixName<'a> {
    Path(&'a [u8]),
    Abstract(&'a [u8]),
}

/// Reads an address from the memory of a thread.
pub(super) fn read(thread: i32, pointer: u64, length: usize) -> Result<Vec<u8>, Errno> {
    if length > MAX_BYTES {
        return Err(Errno::INVAL);
    }
    let mut address = vec![0; length];
    let read = match length {
        0 => Ok(0),
        _ => memory::read(thread, pointer, &mut address),
    };
    match read {
        Ok(read) if read == length => Ok(address),
        Ok(_) | Err(nix::errno::Errno::EFAULT) => Err(Errno::FAULT),
        Err(_) => Err(Errno::ACCESS),
    }
}

fn family(address: &[u8]) -> Result<(i32, &[u8]), Errno> {
    let (family, rest) = address.split_first_chunk::<2>().ok_or(Errno::INVAL)?;
    Ok((u16::from_ne_bytes(*family).into(), rest))
}

/// Parses an Internet address.
pub(super) fn internet(address: &[u8]) -> Result<Target, Errno> {
    /// The number of bytes after the family without the scope, which is optional.
    const MIN_V6: usize = 22;
    let (family, rest) = family(address)?;
    let port = |bytes: &[u8]| bytes.first_chunk().copied().map(u16::from_be_bytes);
    let word = |at: usize| {
        let bytes = rest.get(at..).and_then(|bytes| bytes.first_chunk::<4>());
        bytes.copied().unwrap_or_default()
    };
    let (flow, scope) = (u32::from_be_bytes(word(2)), u32::from_ne_bytes(word(22)));
    let parsed = match family {
        libc::AF_UNSPEC => return Ok(Target::Unspecified),
        libc::AF_INET if rest.len() >= 14 => {
            let ip = rest[2..].first_chunk::<4>().copied().map(Ipv4Addr::from);
            port(rest)
                .zip(ip)
                .map(|(port, ip)| SocketAddr::new(IpAddr::V4(ip), port))
        }
        libc::AF_INET6 if rest.len() >= MIN_V6 => {
            let ip = rest[6..].first_chunk::<16>().copied().map(Ipv6Addr::from);
            let pair = port(rest).zip(ip);
            pair.map(|(port, ip)| SocketAddrV6::new(ip, port, flow, scope).into())
        }
        libc::AF_INET | libc::AF_INET6 => None,
        _ => return Err(Errno::AFNOSUPPORT),
    };
    parsed.map(Target::Internet).ok_or(Errno::INVAL)
}

/// Parses a Unix address.
pub(super) fn unix(address: &[u8]) -> Result<UnixName<'_>, Errno> {
    let (family, name) = family(address)?;
    if family != libc::AF_UNIX || name.is_empty() || address.len() > MAX_UNIX_BYTES {
        return Err(Errno::INVAL);
    }
    Ok(match name.split_first() {
        Some((0, name)) => UnixName::Abstract(name),
        _ => UnixName::Path(name.split(|byte| *byte == 0).next().unwrap_or_default()),
    })
}

/// Opens a path as the thread sees it. The kernel resolves it below the thread's root, without
/// links of `/proc` that lead to other processes' files. A wrong result is harmless: only sockets
/// of the sandbox are targets.
pub(super) fn open(thread: i32, path: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let root = format!("/proc/{thread}/root");
    let root = openat(CWD, root, flags | OFlags::DIRECTORY, Mode::empty())?;
    let mut full_path = Vec::new();
    if path.first() != Some(&b'/') {
        full_path = readlinkat(CWD, format!("/proc/{thread}/cwd"), full_path)?.into_bytes();
        full_path.push(b'/');
    }
    full_path.extend(path);
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    openat2(
        &root,
        OsStr::from_bytes(&full_path),
        flags,
        Mode::empty(),
        resolve,
    )
}

/// Returns the identity of a socket's file, as the kernel lists sockets.
pub(super) fn identity(thread: i32, file: &OwnedFd) -> Result<SocketInode, Errno> {
    let found = fstat(file)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::Socket {
        return Err(Errno::CONNREFUSED);
    }
    let device = device(thread, file).ok_or(Errno::CONNREFUSED)?;
    // The kernel's list of sockets has only 32 bits of the inode.
    let inode = found.st_ino as u32;
    Ok(SocketInode { device, inode })
}

/// Returns the device of a file's file system, which `stat` does not report for a subvolume or an
/// overlay.
fn device(thread: i32, file: &OwnedFd) -> Option<u32> {
    /// The number of bits of a minor number in the kernel.
    const MINOR_BITS: u32 = 20;
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    let mount = info.lines().find_map(|line| line.strip_prefix("mnt_id:"))?;
    let table = fs::read(format!("/proc/{thread}/mountinfo")).ok()?;
    let device = mountinfo_fields(&table, mount.trim())?.nth(1)?;
    let (major, minor) = std::str::from_utf8(device).ok()?.split_once(':')?;
    Some(major.parse::<u32>().ok()? << MINOR_BITS | minor.parse::<u32>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unix_addresses_are_parsed_as_the_kernel_does() {
        let of = |name: &[u8]| [&1u16.to_ne_bytes()[..], name].concat();
        assert_eq!(unix(&of(b"/a\0b")), Ok(UnixName::Path(b"/a")));
        assert_eq!(unix(&of(b"\0a\0")), Ok(UnixName::Abstract(b"a\0")));
        for invalid in [of(b""), of(&[b'x'; 109]), b"\x02\0/a".to_vec(), vec![1]] {
            assert_eq!(unix(&invalid), Err(Errno::INVAL), "{invalid:?}");
        }
    }

    #[test]
    fn internet_addresses_are_parsed_as_the_kernel_does() {
        let of = |family: i32, rest: &[u8]| {
            [&u16::try_from(family).unwrap().to_ne_bytes()[..], rest].concat()
        };
        let four = of(
            libc::AF_INET,
            &[0, 80, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
        );
        let Ok(Target::Internet(address)) = internet(&four) else {
            panic!("it is an address");
        };
        assert_eq!(address.to_string(), "127.0.0.1:80");
        assert!(matches!(internet(&four[..15]), Err(Errno::INVAL)));
        let mut six = of(libc::AF_INET6, &[0; 26]);
        (six[3], six[23]) = (81, 1);
        let Ok(Target::Internet(address)) = internet(&six) else {
            panic!("it is an address");
        };
        assert_eq!(address.to_string(), "[::1]:81");
        assert!(matches!(
            internet(&of(libc::AF_UNIX, b"/a")),
            Err(Errno::AFNOSUPPORT)
        ));
        assert!(matches!(
            internet(&of(libc::AF_UNSPEC, b"")),
            Ok(Target::Unspecified)
        ));
    }
}
