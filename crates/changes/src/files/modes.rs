//! Directories in the upper directory that their owner cannot list or change. The scan of the upper
//! directory records their permissions, and makes them accessible.

use crate::files::codec::Wire;
use crate::files::file_stat::{self, FileStat};
use crate::files::rooted_dir::RootedDir;
use crate::files::system::chmod;
use agent_bash_os::PrivateDir;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The file with the recorded permissions, in the change set's directory.
const FILE_NAME: &str = "modes";

/// The permissions that an owner needs to list and change a directory.
const OWNER_PERMISSIONS: u32 = 0o700;

/// The former permissions of directories that were made accessible.
#[derive(Debug)]
pub(crate) struct Modes {
    recorded: HashMap<Vec<u8>, u32>,
    file: File,
}

impl Modes {
    pub(crate) fn read(set: &PrivateDir) -> io::Result<Self> {
        let mut bytes = Vec::new();
        match set.read(FILE_NAME) {
            Ok(mut file) => _ = file.read_to_end(&mut bytes)?,
            Err(error) if error.kind() == ErrorKind::NotFound => drop(set.create_new(FILE_NAME)?),
            Err(error) => return Err(error),
        }
        let mut recorded = HashMap::new();
        let mut rest = &bytes[..];
        while let Some((path, mode)) = Wire::get(&mut rest) {
            // The first recorded mode is the mode that the call left.
            recorded.entry(path).or_insert(mode);
        }
        let file = set.write(FILE_NAME, true)?;
        Ok(Self { recorded, file })
    }

    /// Records the permissions of a directory, and makes the directory accessible to its owner.
    pub(crate) fn make_accessible(
        &mut self,
        tree: &mut RootedDir,
        path: &Path,
        stat: &FileStat,
    ) -> io::Result<()> {
        let mode = stat.permissions();
        if mode & OWNER_PERMISSIONS == OWNER_PERMISSIONS || rustix::process::geteuid().is_root() {
            return Ok(());
        }
        let key = path.as_os_str().as_bytes().to_vec();
        let mut bytes = Vec::new();
        (key.clone(), mode).put(&mut bytes);
        self.file.write_all(&bytes)?;
        self.recorded.entry(key).or_insert(mode);
        let (dir, name) = tree.parent(path)?;
        let mode = file_stat::mode(mode | OWNER_PERMISSIONS);
        Ok(chmod(dir, name, stat.ino, mode)?)
    }

    /// Returns the attributes that a directory had before [`Self::make_accessible`].
    pub(crate) fn original_stat(&self, path: &Path, stat: FileStat) -> FileStat {
        match self.recorded.get(path.as_os_str().as_bytes()) {
            Some(mode) if stat.is_dir() && stat.permissions() == mode | OWNER_PERMISSIONS => {
                FileStat {
                    mode: (stat.mode & !0o7777) | mode,
                    ..stat
                }
            }
            _ => stat,
        }
    }
}
