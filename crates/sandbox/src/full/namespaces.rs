//! Leaving the namespaces of the host.

use crate::error::BoxError;
use agent_bash_core::sandbox::Network;
use nix::sched::{CloneFlags, unshare};
use rustix::thread::{CapabilitySet, capabilities};
use std::fs;
use std::io;

/// Enters new ones: for mounts, in a box (one with this network) for IPC, for the network unless it is the host's, and
/// of users where it takes one to be allowed the others.
pub(super) fn leave(network: Option<Network>) -> Result<(), BoxError> {
    let mut wanted = CloneFlags::CLONE_NEWNS;
    if let Some(network) = network {
        wanted |= CloneFlags::CLONE_NEWIPC;
        if network != Network::On {
            wanted |= CloneFlags::CLONE_NEWNET;
        }
    }
    let privileged = are_allowed()?;
    let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
    if !privileged {
        wanted |= CloneFlags::CLONE_NEWUSER;
    }
    unshare(wanted).map_err(BoxError::step("making namespaces"))?;
    if !privileged {
        let map = || -> io::Result<()> {
            fs::write("/proc/self/setgroups", "deny")?;
            // Everybody stays who they are.
            fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))?;
            fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))
        };
        map().map_err(BoxError::step("keeping the user in a namespace"))?;
    }
    Ok(())
}

/// Whether this process may make them as it is, without one of users.
pub(super) fn are_allowed() -> Result<bool, BoxError> {
    let had = capabilities(None).map_err(BoxError::step("reading capabilities"))?;
    Ok(had.effective.contains(CapabilitySet::SYS_ADMIN))
}
