//! Where there are no views.

use crate::error::BoxError;
use agent_bash_core::changes::Overlay;
use std::path::PathBuf;

/// The mounts that a process has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mounts(());

impl Mounts {
    /// Never.
    pub fn now() -> Result<Self, BoxError> {
        Err(BoxError::lacks("Linux"))
    }

    /// Never.
    pub fn check(&self, _: &Overlay) -> Result<(), BoxError> {
        Err(BoxError::lacks("Linux"))
    }
}

/// Never.
pub fn leave_host() -> Result<(), BoxError> {
    Err(BoxError::lacks("Linux"))
}

/// None.
#[derive(Debug)]
pub struct View(());

impl View {
    /// Never.
    pub fn mount(_: &Overlay, _: &[PathBuf]) -> Result<Self, BoxError> {
        Err(BoxError::lacks("Linux"))
    }
}
