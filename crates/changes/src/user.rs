//! Who this is, and which files they can make.

use crate::file_stat::FileStat;
use rustix::process::{Gid, getegid, geteuid, getgroups};

/// A user. Who is not root can neither give files away nor set the attributes of others' files.
#[derive(Debug)]
pub(crate) struct User {
    id: u32,
    groups: Vec<u32>,
}

impl User {
    /// Whoever this process runs as.
    pub(crate) fn current() -> Self {
        // Without more of them it has one.
        let groups = getgroups().unwrap_or_default();
        let groups = groups.into_iter().chain([getegid()]);
        Self {
            id: geteuid().as_raw(),
            groups: groups.map(Gid::as_raw).collect(),
        }
    }

    /// Whether they may set what a file looks like.
    pub(crate) fn may_dress(&self, seen: &FileStat) -> bool {
        self.id == 0 || self.id == seen.uid
    }

    /// Whether they can make a file that has this owner and group.
    pub(crate) fn can_make(&self, seen: &FileStat) -> bool {
        self.id == 0 || self.id == seen.uid && self.groups.contains(&seen.gid)
    }
}
