//! The base tier: enforcement without namespaces.

pub(crate) mod capabilities;
pub(crate) mod landlock;
pub(crate) mod seccomp;
