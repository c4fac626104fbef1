//! Group `services`: what data cannot say of deleting the data of services.

pub(super) mod databases;
mod sql;
