//! Making a network that other boxes share, and entering one: see [`crate::networks`].

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

/// How long the box that makes a network may take.
const PATIENCE: Timespec = Timespec {
    tv_sec: 3,
    tv_nsec: 0,
};

/// Namespaces of a network: its own, and the one of users that it belongs to.
const MOST: usize = 2;

/// Hands the network that this process is in to boxes to come, with its namespace of users if it made one.
pub(super) fn offer(socket: &OwnedFd, with_users: bool) -> Result<(), SandboxError> {
    let names = ["/proc/self/ns/net", "/proc/self/ns/user"];
    let offer = || -> rustix::io::Result<()> {
        let open = |name: &&str| rustix::fs::open(*name, OFlags::CLOEXEC, Mode::empty());
        let count = 1 + usize::from(with_users);
        let opened: Vec<OwnedFd> = names
            .iter()
            .take(count)
            .map(open)
            .collect::<Result<_, _>>()?;
        let fds: Vec<BorrowedFd<'_>> = opened.iter().map(AsFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
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

/// Enters the network that another box has made, or is about to.
pub(super) fn join(socket: &OwnedFd) -> Result<(), SandboxError> {
    let enter = || -> io::Result<()> {
        let mut namespaces = offered(socket)?.into_iter();
        let network = namespaces.next();
        // It takes being somebody in the one to be let into the other.
        for users in namespaces {
            setns(users, CloneFlags::CLONE_NEWUSER)?;
        }
        match network {
            Some(network) => Ok(setns(network, CloneFlags::CLONE_NEWNET)?),
            None => Err(io::Error::other("the box that was to make it ended")),
        }
    };
    enter().map_err(SandboxError::step("entering the loopback network"))
}

/// What lies in the socket for everybody, without taking it away.
fn offered(socket: &OwnedFd) -> io::Result<Vec<OwnedFd>> {
    let mut ready = [PollFd::new(socket, PollFlags::IN)];
    if poll(&mut ready, Some(&PATIENCE))? == 0 {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
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
