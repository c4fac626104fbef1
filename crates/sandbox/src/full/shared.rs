//! Creates a network for several sandboxes, and enters one: see [`crate::networks`].

use crate::error::SandboxError;
use nix::sched::{CloneFlags, setns};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Time limit for the sandbox that creates the network.
const CREATION_TIMEOUT: Timespec = Timespec {
    tv_sec: 3,
    tv_nsec: 0,
};

/// Maximum number of namespaces in an offer: the network namespace, and its user namespace.
const MAX_NAMESPACES: usize = 2;

/// Offers this process's network to later sandboxes, with its user namespace if it created one.
pub(super) fn offer(socket: &OwnedFd, with_user_namespace: bool) -> Result<(), SandboxError> {
    let names = ["/proc/self/ns/net", "/proc/self/ns/user"];
    let offer = || -> rustix::io::Result<()> {
        let open = |name: &&str| rustix::fs::open(*name, OFlags::CLOEXEC, Mode::empty());
        let count = 1 + usize::from(with_user_namespace);
        let opened: Vec<OwnedFd> = names
            .iter()
            .take(count)
            .map(open)
            .collect::<Result<_, _>>()?;
        let fds: Vec<BorrowedFd<'_>> = opened.iter().map(AsFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_NAMESPACES))];
        let mut message = SendAncillaryBuffer::new(&mut space);
        message.push(SendAncillaryMessage::ScmRights(&fds));
        sendmsg(
            socket,
            &[IoSlice::new(b"n")],
            &mut message,
            SendFlags::NOSIGNAL,
        )?;
        Ok(())
    };
    offer().map_err(SandboxError::step("sharing the loopback network"))
}

/// Enters the network that another sandbox created or is about to create.
pub(super) fn join(socket: &OwnedFd) -> Result<(), SandboxError> {
    let enter = || -> io::Result<()> {
        let mut namespaces = offered(socket)?.into_iter();
        let network = namespaces.next();
        // Entering the network needs privileges in its user namespace.
        for users in namespaces {
            setns(users, CloneFlags::CLONE_NEWUSER)?;
        }
        match network {
            Some(network) => Ok(setns(network, CloneFlags::CLONE_NEWNET)?),
            None => Err(io::Error::other(
                "the sandbox that was to create the network has ended",
            )),
        }
    };
    enter().map_err(SandboxError::step("entering the loopback network"))
}

/// Peeks at the offered descriptors.
fn offered(socket: &OwnedFd) -> io::Result<Vec<OwnedFd>> {
    let mut ready = [PollFd::new(socket, PollFlags::IN)];
    if poll(&mut ready, Some(&CREATION_TIMEOUT))? == 0 {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_NAMESPACES))];
    let mut message = RecvAncillaryBuffer::new(&mut space);
    let look = RecvFlags::PEEK | RecvFlags::CMSG_CLOEXEC;
    recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut [0; 1])],
        &mut message,
        look,
    )?;
    let fds = message.drain().flat_map(|part| match part {
        RecvAncillaryMessage::ScmRights(fds) => fds.collect(),
        _ => Vec::new(),
    });
    Ok(fds.collect())
}
