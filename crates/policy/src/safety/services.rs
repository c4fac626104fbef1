//! Group `services`: commands that delete the data of local or remote services without asking for
//! confirmation.

pub(super) mod buckets;
pub(super) mod clusters;
pub(super) mod containers;
pub(super) mod databases;
pub(super) mod infrastructure;
mod sql;
