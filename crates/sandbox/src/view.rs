//! The overlay of a trial for a warm shell. Its supervisor left the host's mount namespace before
//! it started the shell, and mounts the overlay when a call takes the shell. No process in that
//! namespace has used the workspace before, so no process there has files open outside the overlay.

use crate::error::SandboxError;
use crate::full;
use crate::full::{mounts, overlay};
use agent_bash_core::changes::Overlay;
use rustix::mount::{UnmountFlags, unmount};
use std::path::PathBuf;

/// The mounts of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mounts(Vec<u8>);

impl Mounts {
    /// Returns the current mounts of this process.
    ///
    /// # Errors
    /// The mounts cannot be listed.
    pub fn now() -> Result<Self, SandboxError> {
        mounts::table().map(Self)
    }

    /// Checks whether an overlay is possible with these mounts of the host.
    ///
    /// # Errors
    /// [`SandboxError::NoTrial`] with the reason.
    pub fn check(&self, trial: &Overlay) -> Result<(), SandboxError> {
        overlay::check(trial, &self.0)
    }
}

/// Leaves the host's mount namespace, and the user namespace if required. This process must be
/// single-threaded. Later mounts of the host do not appear in the new namespace.
///
/// # Errors
/// The system forbids it.
pub fn leave_host() -> Result<(), SandboxError> {
    full::leave(None, None).map_err(SandboxError::into_no_trial)
}

/// A mounted overlay. Dropping this value unmounts the overlay.
#[derive(Debug)]
pub struct View(PathBuf);

impl View {
    /// Mounts the overlay in this process, which has left the host's namespaces. The directories of
    /// `private_directories` that are in the workspace stay outside the overlay.
    ///
    /// # Errors
    /// [`SandboxError::NoTrial`] with the reason. This process is then unusable.
    pub fn mount(trial: &Overlay, private_directories: &[PathBuf]) -> Result<Self, SandboxError> {
        overlay::mount(trial, private_directories)?;
        Ok(Self(trial.root.clone()))
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // Detaches the overlay with all mounts in it; no process uses the overlay any more.
        let _ = unmount(&self.0, UnmountFlags::DETACH);
    }
}
