//! Group `services`: code for commands that delete the data of services and that rows cannot
//! express.

pub(super) mod databases;
mod sql;
