//! Leaving the namespaces of the host.

use super::{loopback, shared};
use crate::error::SandboxError;
use crate::networks::{Entrance, NetworkRole};
use agent_bash_core::sandbox::Network;
use nix::sched::{CloneFlags, unshare};
use rustix::thread::{CapabilitySet, capabilities};
use std::fs;
use std::io;

/// Enters new ones: for mounts, in a box (one with this network) for IPC, for the network unless it is the host's or
/// shared, and of users where it takes one to be allowed the others. Also within those of a shared network a box has
/// users of its own, so that it has no power over others in there.
pub(super) fn leave(
    network: Option<Network>,
    entrance: Option<&Entrance>,
) -> Result<(), SandboxError> {
    let users = if are_allowed()? {
        CloneFlags::empty()
    } else {
        CloneFlags::CLONE_NEWUSER
    };
    let mounts = CloneFlags::CLONE_NEWNS | users;
    let own = mounts | CloneFlags::CLONE_NEWIPC;
    match (network, entrance) {
        (None, _) => separate(mounts),
        (Some(Network::On), _) => separate(own),
        (Some(_), Some(entrance)) => {
            share(entrance, users)?;
            separate(own)
        }
        (Some(network), None) => {
            separate(own | CloneFlags::CLONE_NEWNET)?;
            match network {
                Network::Loopback => loopback::up(),
                _ => Ok(()),
            }
        }
    }
}

/// Makes the network that boxes share, or enters it.
fn share(entrance: &Entrance, users: CloneFlags) -> Result<(), SandboxError> {
    let Entrance { part, socket } = entrance;
    match part {
        NetworkRole::Make => {
            separate(users | CloneFlags::CLONE_NEWNET)?;
            loopback::up()?;
            shared::offer(socket, !users.is_empty())
        }
        NetworkRole::Join => shared::join(socket),
    }
}

/// Whether this process may make them as it is, without one of users.
pub(super) fn are_allowed() -> Result<bool, SandboxError> {
    let had = capabilities(None).map_err(SandboxError::step("reading capabilities"))?;
    Ok(had.effective.contains(CapabilitySet::SYS_ADMIN))
}

/// Makes these namespaces, and enters them.
fn separate(wanted: CloneFlags) -> Result<(), SandboxError> {
    let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
    unshare(wanted).map_err(SandboxError::step("making namespaces"))?;
    if !wanted.contains(CloneFlags::CLONE_NEWUSER) {
        return Ok(());
    }
    let map = || -> io::Result<()> {
        fs::write("/proc/self/setgroups", "deny")?;
        // Everybody stays who they are.
        fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))?;
        fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))
    };
    map().map_err(SandboxError::step("keeping the user in a namespace"))
}
