//! Commands about what was recorded or stored: sessions, jobs, outputs and changes.

pub(crate) mod artifact;
pub(crate) mod changes;
pub(crate) mod clean;
pub(crate) mod jobs;
pub(crate) mod log;
