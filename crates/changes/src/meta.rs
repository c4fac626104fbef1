//! `meta.json`: what a set is about. It is written once, and never changed.

use crate::error::ChangesError;
use crate::file_stat::Time;
use agent_bash_core::changes::{ChangesId, ChangesLevel, FileName};
use agent_bash_os::PrivateDir;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::read_to_string;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

pub(crate) const FILE: &str = "meta.json";

/// The layout of a set's directory. Another version leaves it alone.
const VERSION: u32 = 1;

/// A set, as it was begun.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Meta {
    version: u32,
    pub(crate) kind: SetKind,
    /// The directory that is looked at; absolute and canonical.
    root: FileName,
    /// Its device and inode.
    pub(crate) identity: (u64, u64),
    /// Whether a rename leads from the set's directory into the root.
    pub(crate) near: bool,
    /// Where its files are if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    beside: Option<FileName>,
    /// When it was begun, by the clock of the store's file system.
    pub(crate) begun: Time,
    pub(crate) level: ChangesLevel,
    pub(crate) limits: Limits,
}

/// How much a set may keep, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one set.
    pub set: u64,
    /// Bytes of all sets.
    pub total: u64,
    /// Bytes of one file that is copied for an undo; larger ones are kept only if that takes no space.
    pub preimage: u64,
    /// Seconds after which a set may be removed.
    pub keep: u64,
}

impl Default for Limits {
    /// 1 GiB, 4 GiB, 64 MiB, a day.
    fn default() -> Self {
        Self {
            set: 1 << 30,
            total: 4 << 30,
            preimage: 64 << 20,
            keep: 24 * 60 * 60,
        }
    }
}

/// Where a set comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SetKind {
    /// A call's changes in a view of its own.
    Trial,
    /// A call's changes in place.
    Trace,
    /// The same where nobody watched it: what is different since.
    Scan,
    /// What a job changes in place, or what outlives that call: whoever records it concludes it, as nobody waits.
    Background {
        after: Option<u64>,
        /// That call or an earlier one of its shell: it is not known which has left it running.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        or_earlier: bool,
    },
    /// Taking back what that set did, or doing it again.
    Undo {
        /// The set that was asked for.
        of: u64,
        /// The set whose directory has the files.
        origin: u64,
        /// Whether this did it again.
        again: bool,
    },
}

impl SetKind {
    /// The set that was taken back, and the one that was done again.
    pub(crate) fn turned(self) -> (Option<ChangesId>, Option<ChangesId>) {
        match self {
            Self::Undo { of, again, .. } => {
                let of = Some(ChangesId(of));
                if again { (None, of) } else { (of, None) }
            }
            _ => (None, None),
        }
    }
}

impl Meta {
    pub(crate) fn new(kind: SetKind, root: PathBuf, level: ChangesLevel, limits: Limits) -> Self {
        Self {
            version: VERSION,
            kind,
            root: FileName::new(root.into_os_string()),
            identity: (0, 0),
            near: true,
            beside: None,
            begun: (0, 0),
            level,
            limits,
        }
    }

    pub(crate) fn root(&self) -> PathBuf {
        // The bytes were encoded by ourselves.
        OsString::from_vec(self.root.bytes().unwrap_or_default()).into()
    }

    /// The directory of the tree's that has its files, if renames lead into the root from there alone.
    pub(crate) fn slot_directory(&self) -> Option<PathBuf> {
        let name = self.beside.as_ref()?;
        Some(OsString::from_vec(name.bytes().unwrap_or_default()).into())
    }

    /// Says where that is.
    pub(crate) fn put_beside(&mut self, path: Option<PathBuf>) {
        self.beside = path.map(|path| FileName::new(path.into_os_string()));
    }

    pub(crate) fn read(dir: &PrivateDir) -> Result<Self, ChangesError> {
        let path = || dir.path().join(FILE);
        let text = dir
            .read(FILE)
            .and_then(read_to_string)
            .map_err(ChangesError::io("reading", path()))?;
        let damaged = |why| ChangesError::Damaged { path: path(), why };
        let meta: Self =
            serde_json::from_str(&text).map_err(|_| damaged("it is no description of a set"))?;
        if meta.version != VERSION {
            return Err(damaged("another version of agent-bash wrote it"));
        }
        Ok(meta)
    }

    pub(crate) fn write(&self, dir: &PrivateDir) -> Result<(), ChangesError> {
        let path = dir.path().join(FILE);
        let json = serde_json::to_vec(self).map_err(|error| ChangesError::Io {
            what: "describing",
            path: path.clone(),
            error: error.into(),
        })?;
        dir.replace(FILE, &json)
            .map_err(ChangesError::io("writing", path))
    }
}
