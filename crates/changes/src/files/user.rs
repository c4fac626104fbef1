//! The current user, and the files that this user can create.

use crate::files::file_stat::FileStat;
use rustix::process::{Gid, getegid, geteuid, getgroups};

/// A user. A user other than root can neither change the owner of a file nor set attributes of
/// other users' files.
#[derive(Debug)]
pub(crate) struct User {
    id: u32,
    groups: Vec<u32>,
}

impl User {
    /// Returns the user of this process.
    pub(crate) fn current() -> Self {
        // Without supplementary groups the user has one group.
        let groups = getgroups().unwrap_or_default();
        let groups = groups.into_iter().chain([getegid()]);
        Self {
            id: geteuid().as_raw(),
            groups: groups.map(Gid::as_raw).collect(),
        }
    }

    /// True if the user may set the attributes of this file.
    pub(crate) fn may_set_attributes(&self, stat: &FileStat) -> bool {
        self.id == 0 || self.id == stat.uid
    }

    /// True if the user can create a file with this owner and group.
    pub(crate) fn can_create(&self, stat: &FileStat) -> bool {
        self.id == 0 || self.id == stat.uid && self.groups.contains(&stat.gid)
    }
}
