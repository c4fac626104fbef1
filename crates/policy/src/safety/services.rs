//! Group `services`: commands that remove what services hold, here or elsewhere, and that ask nobody.

pub(super) mod buckets;
pub(super) mod clusters;
pub(super) mod containers;
pub(super) mod databases;
pub(super) mod infrastructure;
mod sql;
