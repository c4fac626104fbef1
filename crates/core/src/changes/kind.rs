//! The type of a changed file.

use serde::{Deserialize, Serialize};

/// The type of a file after the change, or before it if the file was deleted.
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
    /// A symbolic link. Its contents are its target.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character or block device.
    Device,
}

impl FileKind {
    /// True for a regular file, whose type texts do not mention.
    pub fn is_file(&self) -> bool {
        *self == Self::File
    }

    /// Returns the words for texts; `None` for a regular file.
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
