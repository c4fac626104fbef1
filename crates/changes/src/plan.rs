//! What is to be done, as data: operations that are one rename each between the tree and the set's directory, then
//! attributes. The same list backwards takes it back.

use crate::attributes::Attributes;
use crate::codec::{Wire, get_all, put_all, wire};
use crate::file_stat::{FileStat, Time};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A rename between a path of the tree and a slot of the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// From the slot to the path, where nothing is.
    Put,
    /// One for the other.
    Swap,
    /// From the path to the slot, where nothing is.
    Take,
}

impl Wire for Act {
    fn put(&self, to: &mut Vec<u8>) {
        to.push(match self {
            Self::Put => 0,
            Self::Swap => 1,
            Self::Take => 2,
        });
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        match u8::get(from)? {
            0 => Some(Self::Put),
            1 => Some(Self::Swap),
            2 => Some(Self::Take),
            _ => None,
        }
    }
}

/// One operation. Which state it is in is told by the slot alone, which nobody else can reach: a `Put` is done if it is
/// empty, a `Take` if it is not, a `Swap` if it no longer has the file that it had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Op {
    pub(crate) act: Act,
    /// Below the root.
    pub(crate) path: Vec<u8>,
    /// Below the directory of the set that has the files.
    pub(crate) slot: Vec<u8>,
    /// What is at the path before.
    pub(crate) here: Option<FileStat>,
    /// What is in the slot before.
    pub(crate) there: Option<FileStat>,
    /// A digest of what is at the path before, where more than a file's times tells whether it is the same.
    pub(crate) means: Option<u64>,
    /// The same of what is in the slot.
    pub(crate) slot_means: Option<u64>,
}

wire!(Op {
    act,
    path,
    slot,
    here,
    there,
    means,
    slot_means
});

impl Op {
    pub(crate) fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    pub(crate) fn slot(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.slot))
    }

    /// What takes it back.
    pub(crate) fn inverse(&self) -> Self {
        Self {
            act: match self.act {
                Act::Put => Act::Take,
                Act::Swap => Act::Swap,
                Act::Take => Act::Put,
            },
            path: self.path.clone(),
            slot: self.slot.clone(),
            here: self.there,
            there: self.here,
            means: self.slot_means,
            slot_means: self.means,
        }
    }
}

/// A file's attributes, as they are set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) permissions: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) mtime: Time,
    pub(crate) attributes: Attributes,
}

impl Look {
    pub(crate) fn new(seen: &FileStat, attributes: Attributes) -> Self {
        Self {
            permissions: seen.permissions(),
            uid: seen.uid,
            gid: seen.gid,
            mtime: seen.mtime,
            attributes,
        }
    }

    /// Whether only times differ.
    pub(crate) fn is_but_for_times(&self, other: &Self) -> bool {
        self.permissions == other.permissions
            && (self.uid, self.gid) == (other.uid, other.gid)
            && self.attributes == other.attributes
    }
}

impl Wire for Look {
    fn put(&self, to: &mut Vec<u8>) {
        self.permissions.put(to);
        (self.uid, self.gid).put(to);
        self.mtime.put(to);
        put_all(&self.attributes, to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        let permissions = u32::get(from)?;
        let (uid, gid) = Wire::get(from)?;
        Some(Self {
            permissions,
            uid,
            gid,
            mtime: Wire::get(from)?,
            attributes: get_all(from)?,
        })
    }
}

/// Attributes of a path that stays what it is, or of a directory that is put or taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attribution {
    /// Below the root; empty for the root itself.
    pub(crate) path: Vec<u8>,
    /// What is there when this is set.
    pub(crate) here: Option<FileStat>,
    /// Before; `None` if it is not there then.
    pub(crate) before: Option<Look>,
    /// After; `None` if it is not there then.
    pub(crate) after: Option<Look>,
}

wire!(Attribution {
    path,
    here,
    before,
    after
});

impl Attribution {
    pub(crate) fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    /// Whether it is only about times: where somebody else has changed the file, that is no conflict, and theirs stay.
    pub(crate) fn is_soft(&self) -> bool {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => before.is_but_for_times(after),
            _ => true,
        }
    }
}

/// All that is to be done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// In the order in which they can be done.
    pub(crate) ops: Vec<Op>,
    /// Deepest first.
    pub(crate) attributions: Vec<Attribution>,
    /// Paths that were left as somebody else had changed them.
    pub(crate) left: Vec<Vec<u8>>,
}

impl Wire for Plan {
    fn put(&self, to: &mut Vec<u8>) {
        put_all(&self.ops, to);
        put_all(&self.attributions, to);
        put_all(&self.left, to);
    }

    fn get(from: &mut &[u8]) -> Option<Self> {
        Some(Self {
            ops: get_all(from)?,
            attributions: get_all(from)?,
            left: get_all(from)?,
        })
    }
}

impl Plan {
    pub(crate) fn is_empty(&self) -> bool {
        self.ops.is_empty() && self.attributions.is_empty()
    }

    /// Whether it is only about times, see [`Attribution::is_soft`].
    pub(crate) fn is_soft(&self) -> bool {
        self.ops.is_empty() && self.attributions.iter().all(Attribution::is_soft)
    }

    /// Puts all in an order in which it can be done: what goes, deepest first; then what comes, with directories before
    /// what is in them; then attributes, deepest first, as each of these changes the times of directories.
    pub(crate) fn sort(&mut self) {
        self.ops.sort_by(|a, b| match (a.act, b.act) {
            (Act::Take, Act::Take) => b.path().cmp(a.path()),
            (Act::Take, _) => std::cmp::Ordering::Less,
            (_, Act::Take) => std::cmp::Ordering::Greater,
            _ => a.path().cmp(b.path()),
        });
        self.attributions.sort_by(|a, b| b.path().cmp(a.path()));
        self.attributions.dedup_by(|a, b| a.path == b.path);
    }
}
