//! Stand-ins for systems without overlays.

use crate::error::SandboxError;
use agent_bash_core::changes::Overlay;
use std::path::PathBuf;

/// The mounts of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mounts(());

impl Mounts {
    /// Always fails.
    pub fn now() -> Result<Self, SandboxError> {
        Err(SandboxError::missing_facility("Linux"))
    }

    /// Always fails.
    pub fn check(&self, _: &Overlay) -> Result<(), SandboxError> {
        Err(SandboxError::missing_facility("Linux"))
    }
}

/// Always fails.
pub fn leave_host() -> Result<(), SandboxError> {
    Err(SandboxError::missing_facility("Linux"))
}

/// The overlay of a trial; it cannot exist on this system.
#[derive(Debug)]
pub struct View(());

impl View {
    /// Always fails.
    pub fn mount(_: &Overlay, _: &[PathBuf]) -> Result<Self, SandboxError> {
        Err(SandboxError::missing_facility("Linux"))
    }
}
