//! The treatment of queued commands.

/// The treatment of queued commands when the running one ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Queue {
    /// The next command starts.
    #[default]
    Continues,
    /// The commands go back into the prompt: a user who cancels may not want the rest.
    ReturnsToPrompt,
}
