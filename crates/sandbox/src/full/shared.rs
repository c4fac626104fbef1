//! Creates a network for several sandboxes, and enters one: see [`crate::networks`].

use crate::error::SandboxError;
use crate::networks::{MAX_OFFERED_FDS, PROXY_PORT, not_created, offered};
use agent_bash_core::sandbox::Network;
use nix::sched::{CloneFlags, setns};
use rustix::event::Timespec;
use rustix::fs::{Mode, OFlags};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Time limit for the sandbox that creates the network.
const CREATION_TIMEOUT: Timespec = Timespec {
    tv_sec: 3,
    tv_nsec: 0,
};

/// Opens the listener for the proxy of this process's network; `None` if `network` has no proxy.
pub(super) fn proxy_listener(network: Network) -> Result<Option<TcpListener>, SandboxError> {
    let open = || TcpListener::bind((Ipv4Addr::LOCALHOST, PROXY_PORT));
    let listener = (network == Network::Hosts).then(open).transpose();
    listener.map_err(SandboxError::step("opening the proxy's port"))
}

/// Offers this process's network to later sandboxes, with its user namespace if it created one, and
/// the listener for a proxy.
pub(super) fn offer(
    socket: &OwnedFd,
    with_user_namespace: bool,
    listener: Option<&TcpListener>,
) -> Result<(), SandboxError> {
    let names = ["/proc/self/ns/net", "/proc/self/ns/user"];
    let offer = || -> rustix::io::Result<()> {
        let open = |name: &&str| rustix::fs::open(*name, OFlags::CLOEXEC, Mode::empty());
        let count = 1 + usize::from(with_user_namespace);
        let opened: Vec<OwnedFd> = names
            .iter()
            .take(count)
            .map(open)
            .collect::<Result<_, _>>()?;
        let namespaces = opened.iter().map(AsFd::as_fd);
        let fds: Vec<BorrowedFd<'_>> = namespaces.chain(listener.map(AsFd::as_fd)).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_OFFERED_FDS))];
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
pub(super) fn join(socket: &OwnedFd, network: Network) -> Result<(), SandboxError> {
    let enter = || -> io::Result<()> {
        let mut fds = offered(socket, Some(&CREATION_TIMEOUT))?;
        if network == Network::Hosts {
            // The listener is the host's.
            fds.pop();
        }
        let mut namespaces = fds.into_iter();
        let network = namespaces.next();
        // Entering the network needs privileges in its user namespace.
        for users in namespaces {
            setns(users, CloneFlags::CLONE_NEWUSER)?;
        }
        let network = network.ok_or_else(not_created)?;
        Ok(setns(network, CloneFlags::CLONE_NEWNET)?)
    };
    enter().map_err(SandboxError::step("entering the loopback network"))
}
