//! What becomes of the commands that wait for the running one.

/// What becomes of commands that wait when the running one has ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Queue {
    /// The next one starts.
    #[default]
    Continues,
    /// They go back into the prompt: whoever cancels may not want what was to follow.
    IsTakenBack,
}
