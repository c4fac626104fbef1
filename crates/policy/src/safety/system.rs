//! Group `system`: accidents that cost the machine or the user's home, and that no legitimate work
//! needs.
//!
//! Only literal text decides: all of these rules allow paths with an unknown beginning, and unknown
//! names.

pub(super) mod disk;
pub(super) mod fork_bomb;
pub(super) mod home;
pub(super) mod modes;
pub(super) mod power;
pub(super) mod processes;
