//! A file's name in JSON, which is UTF-8, while a name on disk is bytes.

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
    /// What is not UTF-8 in it is replaced by U+FFFD.
    pub path: String,
    /// All its bytes in base64, if they are not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_base64: Option<String>,
}

impl FileName {
    /// The name of these bytes.
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

    /// Whether it is one of the files in which Git keeps its books, at whatever depth. They change at every command of
    /// Git's; what a reader looks for is beside them, so wherever files are listed, these come last.
    pub fn is_of_git(&self) -> bool {
        self.path.split('/').any(|part| part == ".git")
    }

    /// The bytes of the name; `None` if what is said to be base64 is not.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match &self.path_base64 {
            None => Some(self.path.clone().into_bytes()),
            Some(encoded) => STANDARD.decode(encoded).ok(),
        }
    }
}
