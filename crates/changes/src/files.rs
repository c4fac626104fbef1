//! Files of a tree: opened without following links; their attributes, and how these are stored.

pub(crate) mod attributes;
pub(crate) mod codec;
pub(crate) mod file_stat;
pub(crate) mod git_index;
pub(crate) mod modes;
pub(crate) mod rooted_dir;
pub(crate) mod size;
pub(crate) mod system;
pub(crate) mod user;
