//! What a call did to files, as values.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A copy-on-write view for one call: what is written below `root` lands in `upper`. All three are absolute,
/// canonical, and owned by whoever prepared them; `upper` and `work` are on one file system and private.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overlay {
    /// The directory that looks changed; it is the lower one, too.
    pub root: PathBuf,
    /// Takes what is written.
    pub upper: PathBuf,
    /// Belongs to the file system.
    pub work: PathBuf,
}
