//! Namespaces. A trial's namespace shows the workspace as an overlay. The full tier makes
//! everything else read-only, covers secrets, and has private IPC, terminals and network.

mod devices;
mod inherited;
mod loopback;
pub(crate) mod mounts;
mod namespaces;
pub(crate) mod overlay;
mod secrets;
mod shared;
mod terminal;
mod writable;

use crate::error::SandboxError;
use crate::networks::NetworkEntrance;
use crate::path_lookup::PathLookup;
use crate::plan::Order;
use agent_bash_core::sandbox::MissingPromise;
use agent_bash_core::sandbox::Plan;
use rustix::mount::{MountPropagationFlags, mount_change};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The findings of the entry into namespaces.
#[derive(Debug, Default)]
pub(crate) struct Entered {
    /// The promises that could not be enforced.
    pub(crate) missing: Vec<MissingPromise>,
    /// The hidden paths that exist, canonical; `None` if no sandbox has covered them.
    pub(crate) covered: Option<BTreeSet<PathBuf>>,
}

/// Moves this process into the new namespaces that the order needs, and into a shared network.
/// `lookup` has not been used before.
pub(crate) fn enter(
    order: &Order,
    entrance: Option<&NetworkEntrance>,
    lookup: &PathLookup,
) -> Result<Entered, SandboxError> {
    let plan = order.full();
    let mut entered = Entered::default();
    if plan.is_none() && order.trial.is_none() {
        return Ok(entered);
    }
    let directory = rustix::process::getcwd(Vec::new());
    if let Some(trial) = &order.trial {
        overlay::check(trial, &mounts::table()?)?;
    }
    let inherited = plan.map(|plan| inherited::to_confine(order, plan));
    let inherited = inherited.transpose()?.unwrap_or_default();
    let left_host = leave(plan, entrance).and_then(|()| inherited::confine(&inherited));
    match &order.trial {
        // Mounts the overlay first, because all later paths may lead into it.
        Some(trial) => left_host
            .map_err(SandboxError::into_no_trial)
            .and_then(|()| overlay::mount(trial, &order.writable))?,
        None => left_host?,
    }
    if let Some(plan) = plan {
        entered = create_mounts(plan, &order.writable, lookup)?;
        if let (Some(redirected), None) = (&plan.git_config, &order.trial) {
            // Without this mount, which Linux 5.2 supports, the file stays read-only.
            let _ = writable::redirect(redirected);
        }
    }
    // The working directory still refers to the covered mount.
    let returned = directory.and_then(rustix::process::chdir);
    if returned.is_err() {
        rustix::process::chdir("/").map_err(SandboxError::step("entering the directory"))?;
    }
    Ok(entered)
}

/// Leaves the host's namespaces. Later mounts of the host, for example over a secret, do not appear
/// in the new namespaces.
pub(crate) fn leave(
    plan: Option<&Plan>,
    entrance: Option<&NetworkEntrance>,
) -> Result<(), SandboxError> {
    namespaces::leave(plan.map(|plan| plan.network), entrance)?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(SandboxError::step("separating the mounts"))
}

/// Creates the mounts of a sandbox.
fn create_mounts(
    plan: &Plan,
    private_directories: &[PathBuf],
    lookup: &PathLookup,
) -> Result<Entered, SandboxError> {
    let caches = &plan.caches;
    let covered = caches.mounts.iter().map(|(_, covered)| covered);
    let shared = plan.writable.iter().chain(&caches.writable);
    let roots = writable::outermost(shared.chain(private_directories).chain(covered));
    writable::separate(&roots)?;
    writable::cover(&caches.mounts)?;
    let covered = lookup.existing(&plan.hidden);
    writable::protect(&roots, plan, &covered, lookup)?;
    let mut missing = Vec::new();
    if !mounts::make_read_only(&roots)? {
        missing.push(MissingPromise::Metadata);
    }
    secrets::cover(&covered)?;
    terminal::keep_name();
    devices::mount_private_file_systems()?;
    Ok(Entered {
        missing,
        covered: Some(covered),
    })
}
