//! Group `data_loss`: what data cannot say of git commands that discard work. Off by default.

pub(super) mod discard;
mod plumbing;
