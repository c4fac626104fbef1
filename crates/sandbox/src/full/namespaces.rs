//! Leaves the namespaces of the host.

use super::{loopback, shared};
use crate::error::SandboxError;
use crate::networks::{NetworkEntrance, NetworkRole};
use agent_bash_core::sandbox::Network;
use nix::sched::{CloneFlags, unshare};
use rustix::thread::{CapabilitySet, capabilities};
use std::fs;
use std::io;

/// Enters new namespaces. `network` is `None` for a trial without a sandbox, which gets only a
/// mount namespace. A sandbox also gets an IPC namespace, and a network namespace unless its
/// network is the host's or shared. A process without privileges also needs a user namespace. A
/// sandbox in a shared network has its own user namespace, so that it has no power over the other
/// sandboxes.
pub(super) fn leave(
    network: Option<Network>,
    entrance: Option<&NetworkEntrance>,
) -> Result<(), SandboxError> {
    let users = if may_create_namespaces()? {
        CloneFlags::empty()
    } else {
        CloneFlags::CLONE_NEWUSER
    };
    let mounts = CloneFlags::CLONE_NEWNS | users;
    let sandbox_namespaces = mounts | CloneFlags::CLONE_NEWIPC;
    match (network, entrance) {
        (None, _) => separate(mounts),
        (Some(Network::On), _) => separate(sandbox_namespaces),
        (Some(network), Some(entrance)) => {
            share(entrance, users, network)?;
            separate(sandbox_namespaces)
        }
        (Some(network), None) => {
            separate(sandbox_namespaces | CloneFlags::CLONE_NEWNET)?;
            match loopback::activate() {
                // Root in a container may lack the capability; the loopback is not promised then.
                Err(_) if !network.is_shared() => Ok(()),
                activated => activated,
            }
        }
    }
}

/// Creates the shared network, or enters it.
fn share(
    entrance: &NetworkEntrance,
    users: CloneFlags,
    network: Network,
) -> Result<(), SandboxError> {
    let NetworkEntrance { role, socket } = entrance;
    match role {
        NetworkRole::Make => {
            separate(users | CloneFlags::CLONE_NEWNET)?;
            loopback::activate()?;
            let listener = shared::proxy_listener(network)?;
            shared::offer(socket, !users.is_empty(), listener.as_ref())
        }
        NetworkRole::Join => shared::join(socket, network),
    }
}

/// True if this process may create namespaces without a user namespace.
pub(super) fn may_create_namespaces() -> Result<bool, SandboxError> {
    let current = capabilities(None).map_err(SandboxError::step("reading capabilities"))?;
    Ok(current.effective.contains(CapabilitySet::SYS_ADMIN))
}

/// Creates and enters these namespaces.
fn separate(namespaces: CloneFlags) -> Result<(), SandboxError> {
    let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
    unshare(namespaces).map_err(SandboxError::step("making namespaces"))?;
    if !namespaces.contains(CloneFlags::CLONE_NEWUSER) {
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
