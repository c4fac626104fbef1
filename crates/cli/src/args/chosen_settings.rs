//! The settings that options override.

use crate::args::values::{ProfileArg, SafeLevelArg, SandboxArg};

/// Settings given on the command line; `None` leaves them to the settings files.
#[derive(Debug, Default)]
pub(crate) struct ChosenSettings<'a> {
    /// `--profile`.
    pub(crate) profile: Option<ProfileArg>,
    /// `--safe-mode`.
    pub(crate) safe_mode: Option<SafeLevelArg>,
    /// `--sandbox`.
    pub(crate) sandbox: Option<SandboxArg>,
    /// `--network`.
    pub(crate) network: Option<&'a str>,
    /// `--tools`.
    pub(crate) tools: Option<&'a [String]>,
}
