//! Group `data_loss`: code for git commands that discard work and that rows cannot express. Off by
//! default.

pub(super) mod discard;
