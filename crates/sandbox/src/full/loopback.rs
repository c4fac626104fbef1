//! Activates the loopback interface of a new network namespace.

use crate::error::SandboxError;
use rustix::io;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use rustix::net::{recv, sendto, socket_with};

// From linux/rtnetlink.h and linux/netlink.h.
const RTM_NEWLINK: u16 = 16;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const NLMSG_ERROR: u16 = 2;
const IFF_UP: u32 = 1;
/// The index of `lo` in every namespace.
const LOOPBACK_INDEX: i32 = 1;

/// The lengths of a message header and an interface header.
const HEADER_BYTES: usize = 16 + 16;

/// Activates the loopback interface of this process's network namespace.
pub(super) fn activate() -> Result<(), SandboxError> {
    set_up().map_err(SandboxError::step("setting the loopback interface up"))
}

fn set_up() -> io::Result<()> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        // `None` selects `NETLINK_ROUTE`.
        None,
    )?;
    let kernel = SocketAddrNetlink::new(0, 0);
    sendto(&socket, &message(), SendFlags::empty(), &kernel)?;
    let mut answer = [0; 256];
    let (count, _) = recv(&socket, &mut answer, RecvFlags::empty())?;
    acknowledged(&answer[..count])
}

fn message() -> [u8; HEADER_BYTES] {
    let mut message = [0; HEADER_BYTES];
    let mut put = |at: usize, bytes: &[u8]| message[at..at + bytes.len()].copy_from_slice(bytes);
    // The offsets of fields in `struct nlmsghdr` (16 bytes), then in `struct ifinfomsg`.
    put(0, &(HEADER_BYTES as u32).to_ne_bytes());
    put(4, &RTM_NEWLINK.to_ne_bytes());
    put(6, &(NLM_F_REQUEST | NLM_F_ACK).to_ne_bytes());
    put(20, &LOOPBACK_INDEX.to_ne_bytes());
    // The flags to set, and the mask of changed flags.
    put(24, &IFF_UP.to_ne_bytes());
    put(28, &IFF_UP.to_ne_bytes());
    message
}

/// An acknowledgement is an error message with the number zero.
fn acknowledged(answer: &[u8]) -> io::Result<()> {
    let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok());
    let error = answer.get(16..20).and_then(|bytes| bytes.try_into().ok());
    match (kind.map(u16::from_ne_bytes), error.map(i32::from_ne_bytes)) {
        (Some(NLMSG_ERROR), Some(0)) => Ok(()),
        (Some(NLMSG_ERROR), Some(error)) => Err(io::Errno::from_raw_os_error(-error)),
        _ => Err(io::Errno::PROTO),
    }
}
