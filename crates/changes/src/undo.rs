//! Commits, discards, undoes and redoes change sets, alone or several as one.

pub(crate) mod group;
pub(crate) mod group_run;
pub(crate) mod hold;
pub(crate) mod inversion;
pub(crate) mod look_up;
pub(crate) mod recover;
pub(crate) mod transaction;
