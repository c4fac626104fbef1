//! The base tier: what needs no namespaces.

pub(crate) mod capabilities;
pub(crate) mod landlock;
pub(crate) mod seccomp;
