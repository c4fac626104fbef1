//! The Unix sockets of a network namespace, as the kernel lists them (`NETLINK_SOCK_DIAG`).

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};

/// `SOCK_DIAG_BY_FAMILY`, the type of requests and of listed sockets.
const BY_FAMILY: u16 = 20;
const NLMSG_DONE: u16 = 3;
const NLM_F_REQUEST: u16 = 1;
/// `NLM_F_DUMP` lists all sockets.
const NLM_F_DUMP: u16 = 0x300;

/// The sizes of `struct nlmsghdr` and `struct unix_diag_msg`, in bytes.
const HEADER_BYTES: usize = 16;
const SOCKET_BYTES: usize = 16;

/// `UDIAG_SHOW_VFS` and its attribute, `UNIX_DIAG_VFS`.
const SHOW_FILE: u32 = 2;
const FILE_ATTRIBUTE: u16 = 1;

/// The bit of the state `TCP_LISTEN`.
const LISTENING_STATE_BIT: u32 = 1 << 10;

/// The size of one answer in bytes; the kernel sends less in one message.
const ANSWER_BYTES: usize = 64 * 1024;

/// Opens a socket that lists the Unix sockets of the network namespace of this process.
pub(crate) fn open() -> rustix::io::Result<OwnedFd> {
    let protocol = Some(netlink::SOCK_DIAG);
    let flags = SocketFlags::CLOEXEC;
    socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, protocol)
}

/// The file of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SocketInode {
    /// The device of its file system, as a number of the kernel.
    pub(super) device: u32,
    pub(super) inode: u32,
}

/// The Unix sockets of a network namespace. Its queries must not overlap.
#[derive(Debug)]
pub(super) struct SocketTable {
    netlink: OwnedFd,
    /// The number of the last query, which its answers repeat.
    sequence: AtomicU32,
}

impl SocketTable {
    pub(super) fn new(netlink: OwnedFd) -> Self {
        Self {
            netlink,
            sequence: AtomicU32::new(0),
        }
    }

    /// True if a listening socket is bound to this file.
    pub(super) fn is_listening(&self, file: SocketInode) -> Result<bool, Errno> {
        // `u64::MAX` matches any cookie.
        let query = self.ask(NLM_F_DUMP, LISTENING_STATE_BIT, 0, u64::MAX)?;
        let mut found = false;
        loop {
            let answer = self.receive()?;
            for message in messages(&answer).filter(|message| message.sequence == query) {
                match message.kind {
                    BY_FAMILY => found |= file_of(message.body) == Some(file),
                    NLMSG_DONE => return Ok(found),
                    _ => return Err(Errno::ACCESS),
                }
            }
        }
    }

    /// True if the socket with this inode in `sockfs` and this cookie belongs to the namespace.
    pub(super) fn has_socket(&self, inode: u64, cookie: u64) -> Result<bool, Errno> {
        let inode = u32::try_from(inode).map_err(|_| Errno::ACCESS)?;
        let query = self.ask(0, u32::MAX, inode, cookie)?;
        loop {
            let answer = self.receive()?;
            let mut all = messages(&answer);
            if let Some(message) = all.find(|message| message.sequence == query) {
                return Ok(message.kind == BY_FAMILY);
            }
        }
    }

    /// Sends `struct unix_diag_req` and returns the number of the query.
    fn ask(&self, flags: u16, states: u32, inode: u32, cookie: u64) -> Result<u32, Errno> {
        const REQUEST_BYTES: u32 = 40;
        let query = self
            .sequence
            .fetch_add(1, Ordering::Relaxed)
            .wrapping_add(1);
        let mut request = REQUEST_BYTES.to_ne_bytes().to_vec();
        request.extend(BY_FAMILY.to_ne_bytes());
        request.extend((NLM_F_REQUEST | flags).to_ne_bytes());
        request.extend(query.to_ne_bytes());
        // The netlink port.
        request.extend([0; 4]);
        // Family, protocol and padding.
        request.extend((libc::AF_UNIX as u32).to_le_bytes());
        let [low, high] = [cookie as u32, (cookie >> 32) as u32];
        for word in [states, inode, SHOW_FILE, low, high] {
            request.extend(word.to_ne_bytes());
        }
        send(&self.netlink, &request, SendFlags::empty())?;
        Ok(query)
    }

    fn receive(&self) -> Result<Vec<u8>, Errno> {
        let mut answer = vec![0; ANSWER_BYTES];
        loop {
            match recv(&self.netlink, &mut answer[..], RecvFlags::empty()) {
                Err(Errno::INTR) => {}
                received => {
                    let (count, _) = received?;
                    answer.truncate(count);
                    return Ok(answer);
                }
            }
        }
    }
}

/// A netlink message.
struct Message<'a> {
    kind: u16,
    sequence: u32,
    body: &'a [u8],
}

fn messages(mut rest: &[u8]) -> impl Iterator<Item = Message<'_>> {
    std::iter::from_fn(move || {
        let (header, _) = rest.split_first_chunk::<HEADER_BYTES>()?;
        let word = |at: usize| header[at..].first_chunk().copied().map(u32::from_ne_bytes);
        let length = usize::try_from(word(0)?).ok()?;
        let body = rest.get(HEADER_BYTES..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(Message {
            kind: u16::from_ne_bytes([header[4], header[5]]),
            sequence: word(8)?,
            body,
        })
    })
}

/// Returns the file of a listed socket.
fn file_of(socket: &[u8]) -> Option<SocketInode> {
    let mut rest = socket.get(SOCKET_BYTES..)?;
    loop {
        let (header, _) = rest.split_first_chunk::<4>()?;
        let length = usize::from(u16::from_ne_bytes([header[0], header[1]]));
        let value = rest.get(4..length)?;
        if u16::from_ne_bytes([header[2], header[3]]) == FILE_ATTRIBUTE {
            let word = |at: usize| {
                value
                    .get(at..)?
                    .first_chunk()
                    .copied()
                    .map(u32::from_ne_bytes)
            };
            return Some(SocketInode {
                inode: word(0)?,
                device: word(4)?,
            });
        }
        rest = rest.get(length.next_multiple_of(4)..)?;
    }
}
