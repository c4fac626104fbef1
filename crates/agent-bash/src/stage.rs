//! The stages of a call, one file each. [`crate::pipeline`] says in which order they run; none of them knows another.

pub(crate) mod approve;
pub(crate) mod parse_input;
pub(crate) mod timeout;
pub(crate) mod working_directory;
