//! The sources of a change set: a trial, a trace, or two scans of a directory.

pub(crate) mod background;
pub(crate) mod further_names;
pub(crate) mod held_plan;
pub(crate) mod preimages;
pub(crate) mod recorder;
pub(crate) mod recycle;
pub(crate) mod restored_files;
pub(crate) mod scan;
pub(crate) mod stale;
pub(crate) mod traced;
pub(crate) mod upper;
