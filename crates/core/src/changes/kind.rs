//! What kind of file a call changed.

use serde::{Deserialize, Serialize};

/// The kind of a file: what it is after the change, or was, if it is gone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FileKind {
    /// A regular file.
    #[default]
    File,
    /// A directory.
    Directory,
    /// A symbolic link. Its content is where it leads.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character or block device.
    Device,
}

impl FileKind {
    /// Whether it is a regular file, of which nothing has to be said.
    pub fn is_file(&self) -> bool {
        *self == Self::File
    }

    /// What it is called beside its name; nothing of a regular file.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Self::File => None,
            Self::Directory => Some("directory"),
            Self::Symlink => Some("symbolic link"),
            Self::Fifo => Some("named pipe"),
            Self::Socket => Some("socket"),
            Self::Device => Some("device"),
        }
    }
}
