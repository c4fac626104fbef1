//! Group `data_loss`: code for git commands that discard work, if rows of data cannot express them.
//! Off by default.

pub(super) mod discard;
mod plumbing;
