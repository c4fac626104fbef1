//! Group `services`: code for deleting the data of services, if rows of data cannot express it.

pub(super) mod databases;
mod sql;
