//! Leaves the namespaces of the host.

use super::{loopback, shared};
use crate::error::SandboxError;
use crate::networks::{NetworkEntrance, NetworkRole};
use agent_bash_core::sandbox::Network;
use nix::sched::{CloneFlags, unshare};
use rustix::thread::{CapabilitySet, capabilities};
use std::fs;
use std::io;

/// Enters new namespaces: for mounts, in a sandbox for IPC, for the network unless it is the host's
/// or shared, and for users if the others need it. A sandbox in a shared network has its own user
/// namespace, so that it has no power over the others.
pub(super) fn leave(
    network: Option<Network>,
    entrance: Option<&NetworkEntrance>,
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

/// Creates the shared network, or enters it.
fn share(entrance: &NetworkEntrance, users: CloneFlags) -> Result<(), SandboxError> {
    let NetworkEntrance { part, socket } = entrance;
    match part {
        NetworkRole::Make => {
            separate(users | CloneFlags::CLONE_NEWNET)?;
            loopback::up()?;
            shared::offer(socket, !users.is_empty())
        }
        NetworkRole::Join => shared::join(socket),
    }
}

/// True if this process may create namespaces without a user namespace.
pub(super) fn are_allowed() -> Result<bool, SandboxError> {
    let had = capabilities(None).map_err(SandboxError::step("reading capabilities"))?;
    Ok(had.effective.contains(CapabilitySet::SYS_ADMIN))
}

/// Creates and enters these namespaces.
fn separate(wanted: CloneFlags) -> Result<(), SandboxError> {
    let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
    unshare(wanted).map_err(SandboxError::step("making namespaces"))?;
    if !wanted.contains(CloneFlags::CLONE_NEWUSER) {
        return Ok(());
    }
    let map = || -> io::Result<()> {
        fs::write("/proc/self/setgroups", "deny")?;
        // User and group ids stay the same.
        fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))?;
        fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))
    };
    map().map_err(SandboxError::step("keeping the user in a namespace"))
}
