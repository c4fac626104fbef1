//! The full tier: namespaces in which protected paths and everything outside of what may be written are read-only
//! mounts, secrets are covered, and IPC, terminals and network are the box's own.

mod devices;
mod loopback;
mod mounts;
mod namespaces;
mod secrets;
mod writable;

use crate::error::BoxError;
use agent_bash_core::sandbox::Lack;
use agent_bash_core::sandbox::{Network, Plan};
use rustix::mount::{MountPropagationFlags, mount_change};
use std::path::PathBuf;

/// Moves this process into namespaces that are made for it. What they could not do is returned.
pub(crate) fn enter(plan: &Plan, own: &[PathBuf]) -> Result<Vec<Lack>, BoxError> {
    let directory = rustix::process::getcwd(Vec::new());
    namespaces::leave(plan.network)?;
    // What the host mounts later, over a secret for example, does not appear here.
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )
    .map_err(BoxError::step("separating the mounts"))?;
    let roots = writable::outermost(plan.writable.iter().chain(own));
    writable::separate(&roots)?;
    writable::protect(&roots, &plan.protected)?;
    let mut missing = Vec::new();
    if !mounts::make_read_only(&roots)? {
        missing.push(Lack::Metadata);
    }
    secrets::cover(&plan.hidden)?;
    devices::make_own()?;
    if plan.network == Network::Loopback {
        loopback::up()?;
    }
    // It still refers to the mount that lies below the new ones.
    let entered = directory.and_then(rustix::process::chdir);
    if entered.is_err() {
        rustix::process::chdir("/").map_err(BoxError::step("entering the directory"))?;
    }
    Ok(missing)
}
