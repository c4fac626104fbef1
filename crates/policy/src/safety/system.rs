//! Group `system`: accidents that cost the machine or the home on it, and that no honest work needs.
//!
//! Only what is written out decides: a path that begins with something unknown, or a name that is not known, is let
//! pass by all of these.

pub(super) mod crontab;
pub(super) mod disk;
pub(super) mod home;
pub(super) mod mirror;
pub(super) mod modes;
pub(super) mod power;
pub(super) mod processes;
