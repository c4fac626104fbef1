//! Group `data_loss`: git commands that discard work. Off by default.

pub(super) mod branch;
pub(super) mod clean;
pub(super) mod discard;
mod plumbing;
pub(super) mod push_delete;
pub(super) mod reflog;
pub(super) mod reset;
pub(super) mod stash;
