//! `meta.json`: the description of a change set. It is written once and never changed.

use crate::error::ChangesError;
use crate::files::file_stat::Time;
use agent_bash_core::changes::{ChangesId, ChangesLevel, FileName};
use agent_bash_os::PrivateDir;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::read_to_string;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

pub(crate) const FILE_NAME: &str = "meta.json";

/// The version of the directory layout. Other versions of the program do not touch the change set.
const LAYOUT_VERSION: u32 = 1;

/// The description of a change set at its beginning.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Meta {
    version: u32,
    pub(crate) kind: SetKind,
    /// The recorded directory; absolute and canonical.
    root: FileName,
    /// Device and inode of the directory.
    pub(crate) identity: (u64, u64),
    /// True if the change set's directory is on the mount of the root, so that files can be renamed
    /// between them.
    #[serde(rename = "near")]
    pub(crate) is_same_mount: bool,
    /// The directory of the slots in the tree, if the change set's directory is on another mount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    slots: Option<FileName>,
    /// The time when the call began, by the clock of the store's file system.
    pub(crate) begun: Time,
    pub(crate) level: ChangesLevel,
    pub(crate) limits: StoreLimits,
}

/// The limits of size and age of change sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoreLimits {
    /// The largest size of one change set's preimages in bytes.
    pub max_set_bytes: u64,
    /// The size of all change sets in bytes, above which the oldest are removed.
    pub max_total_bytes: u64,
    /// The largest file that is copied as a preimage, in bytes. A larger file has a preimage only
    /// if a hard link or a clone is possible.
    pub max_preimage_bytes: u64,
    /// Age in seconds after which a change set may be removed.
    pub max_age_s: u64,
}

impl Default for StoreLimits {
    /// Returns 1 GiB, 4 GiB, 64 MiB, and a day.
    fn default() -> Self {
        Self {
            max_set_bytes: 1 << 30,
            max_total_bytes: 4 << 30,
            max_preimage_bytes: 64 << 20,
            max_age_s: 24 * 60 * 60,
        }
    }
}

/// The origin of a change set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SetKind {
    /// Changes of a call in an overlay.
    Trial,
    /// Changes of a traced call in place.
    Trace,
    /// Changes of a call in place, found by a scan.
    Scan,
    /// Changes of a job, or of processes that outlive their call. The recorder closes the change
    /// set.
    Background {
        /// The change set of the call; `None` for a job.
        after: Option<u64>,
        /// True if an earlier call of the same shell may have started the processes instead.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        maybe_earlier: bool,
    },
    /// The undo or redo of a change set.
    Undo {
        /// The change set that was to be undone or redone; itself possibly an undo.
        #[serde(rename = "of")]
        target: u64,
        /// The change set of the call, whose directory has the slots.
        origin: u64,
        /// True for a redo.
        #[serde(rename = "again")]
        redo: bool,
        /// The number of the group, if several change sets were undone or redone as one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<u64>,
    },
}

impl SetKind {
    /// Returns the change set that this one undid, and the change set that this one redid.
    pub(crate) fn undoes_and_redoes(self) -> (Option<ChangesId>, Option<ChangesId>) {
        match self {
            Self::Undo { target, redo, .. } => {
                let target = Some(ChangesId(target));
                if redo { (None, target) } else { (target, None) }
            }
            _ => (None, None),
        }
    }
}

impl Meta {
    pub(crate) fn new(
        kind: SetKind,
        root: PathBuf,
        level: ChangesLevel,
        limits: StoreLimits,
    ) -> Self {
        Self {
            version: LAYOUT_VERSION,
            kind,
            root: FileName::new(root.into_os_string()),
            identity: (0, 0),
            is_same_mount: true,
            slots: None,
            begun: (0, 0),
            level,
            limits,
        }
    }

    pub(crate) fn root(&self) -> PathBuf {
        // The bytes are valid, because `Meta::new` encoded them.
        OsString::from_vec(self.root.bytes().unwrap_or_default()).into()
    }

    /// Returns the slot directory in the tree, if the change set's directory is on another mount.
    pub(crate) fn slot_directory(&self) -> Option<PathBuf> {
        let name = self.slots.as_ref()?;
        Some(OsString::from_vec(name.bytes().unwrap_or_default()).into())
    }

    pub(crate) fn set_slot_directory(&mut self, path: Option<PathBuf>) {
        self.slots = path.map(|path| FileName::new(path.into_os_string()));
    }

    pub(crate) fn read(dir: &PrivateDir) -> Result<Self, ChangesError> {
        let path = || dir.path().join(FILE_NAME);
        let text = dir
            .read(FILE_NAME)
            .and_then(read_to_string)
            .map_err(ChangesError::io("reading", path()))?;
        let damaged = |why| ChangesError::Damaged { path: path(), why };
        let meta: Self = serde_json::from_str(&text)
            .map_err(|_| damaged("it is not the description of a change set"))?;
        if meta.version != LAYOUT_VERSION {
            return Err(damaged("another version of agent-bash wrote it"));
        }
        Ok(meta)
    }

    pub(crate) fn write(&self, dir: &PrivateDir) -> Result<(), ChangesError> {
        let path = dir.path().join(FILE_NAME);
        let json = serde_json::to_vec(self).map_err(|error| ChangesError::Io {
            what: "describing",
            path: path.clone(),
            error: error.into(),
        })?;
        dir.replace(FILE_NAME, &json)
            .map_err(ChangesError::io("writing", path))
    }
}
