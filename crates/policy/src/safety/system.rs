//! Group `system`: accidents that destroy the machine or the user's home. No legitimate work needs
//! these commands.
//!
//! Only literal text decides: all rules of this group allow paths with an unknown beginning, and
//! unknown names.

pub(super) mod disk;
pub(super) mod fork_bomb;
pub(super) mod home;
pub(super) mod modes;
pub(super) mod power;
pub(super) mod processes;
