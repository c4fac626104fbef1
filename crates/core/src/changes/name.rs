//! The name of a file for JSON, which is UTF-8, although a name on disk may be any bytes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The path of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FileName {
    /// The path; bytes that are not UTF-8 are replaced by U+FFFD.
    pub path: String,
    /// The bytes of the path in base64, if they are not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_base64: Option<String>,
}

impl FileName {
    /// Returns the name for the bytes of `path`.
    pub fn new(path: impl AsRef<OsStr>) -> Self {
        let path = path.as_ref();
        match path.to_str() {
            Some(text) => Self {
                path: text.to_owned(),
                path_base64: None,
            },
            None => Self {
                path: path.to_string_lossy().into_owned(),
                path_base64: Some(STANDARD.encode(path.as_bytes())),
            },
        }
    }

    /// True if the file is in a `.git` directory at any depth. Git changes several such files in
    /// every command, so lists show them last.
    pub fn is_of_git(&self) -> bool {
        self.path.split('/').any(|part| part == ".git")
    }

    /// Returns the bytes of the path; `None` if `path_base64` is not valid base64.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match &self.path_base64 {
            None => Some(self.path.clone().into_bytes()),
            Some(encoded) => STANDARD.decode(encoded).ok(),
        }
    }
}
