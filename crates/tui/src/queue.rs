//! Queued commands when the running one ends.

/// The treatment of queued commands when the running one ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum QueueTreatment {
    /// The next command starts.
    #[default]
    Continues,
    /// The commands return to the prompt: a user who cancels may not want the rest.
    ReturnsToPrompt,
}
