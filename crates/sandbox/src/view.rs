//! The view of a trial for a shell that waits. Its supervisor has left the host's namespaces before it started the shell, and
//! mounts the view when a call takes it: nobody has looked into the workspace before, so that nothing in it is stale.

use crate::error::SandboxError;
use crate::full;
use crate::full::{mounts, overlay};
use agent_bash_core::changes::Overlay;
use rustix::mount::{UnmountFlags, unmount};
use std::path::PathBuf;

/// The mounts that a process has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mounts(Vec<u8>);

impl Mounts {
    /// Those of this process, now.
    ///
    /// # Errors
    /// They cannot be listed.
    pub fn now() -> Result<Self, SandboxError> {
        mounts::table().map(Self)
    }

    /// Whether there can be a view where these are the host's mounts, which this process has.
    ///
    /// # Errors
    /// [`BoxError::NoTrial`] says why not.
    pub fn check(&self, trial: &Overlay) -> Result<(), SandboxError> {
        overlay::check(trial, &self.0)
    }
}

/// Leaves the host's namespaces for mounts, and for users where that takes one. This process must have a single thread. What
/// is mounted elsewhere from here on does not appear in here.
///
/// # Errors
/// The system forbids it.
pub fn leave_host() -> Result<(), SandboxError> {
    full::leave(None, None).map_err(SandboxError::into_no_trial)
}

/// The workspace as a view, until this is dropped.
#[derive(Debug)]
pub struct View(PathBuf);

impl View {
    /// Mounts it. This process has left the host's namespaces. Of `own`, what lies in the workspace stays what it is.
    ///
    /// # Errors
    /// [`BoxError::NoTrial`] says why not. This process is of no more use then.
    pub fn mount(trial: &Overlay, own: &[PathBuf]) -> Result<Self, SandboxError> {
        overlay::mount(trial, own)?;
        Ok(Self(trial.root.clone()))
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // With what is mounted in it. Nobody is left who could use it.
        let _ = unmount(&self.0, UnmountFlags::DETACH);
    }
}
