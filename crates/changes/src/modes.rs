//! Directories in the upper directory whose owner cannot read or change them. They are made
//! accessible after their permissions are recorded.

use crate::codec::Wire;
use crate::file_stat::FileStat;
use crate::rooted_dir::RootedDir;
use agent_bash_os::PrivateDir;
use rustix::fs::{AtFlags, Mode, chmodat};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The file with the permissions, by path in the change set's directory.
const FILE_NAME: &str = "modes";

/// The permissions that an owner needs for a directory.
const OWNER_PERMISSIONS: u32 = 0o700;

/// The former permissions of directories that were made accessible.
#[derive(Debug)]
pub(crate) struct Modes {
    known: HashMap<Vec<u8>, u32>,
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
        let mut known = HashMap::new();
        let mut rest = &bytes[..];
        while let Some((path, mode)) = Wire::get(&mut rest) {
            // The first recorded mode is the one that the call set.
            known.entry(path).or_insert(mode);
        }
        let file = set.write(FILE_NAME, true)?;
        Ok(Self { known, file })
    }

    /// Makes a directory accessible to its owner.
    pub(crate) fn open(
        &mut self,
        tree: &mut RootedDir,
        at: &Path,
        seen: &FileStat,
    ) -> io::Result<()> {
        let mode = seen.permissions();
        if mode & OWNER_PERMISSIONS == OWNER_PERMISSIONS || rustix::process::geteuid().is_root() {
            return Ok(());
        }
        let path = at.as_os_str().as_bytes().to_vec();
        let mut bytes = Vec::new();
        (path.clone(), mode).put(&mut bytes);
        self.file.write_all(&bytes)?;
        self.known.entry(path).or_insert(mode);
        let (dir, name) = tree.parent(at)?;
        chmodat(
            dir,
            name,
            Mode::from_raw_mode(mode | OWNER_PERMISSIONS),
            AtFlags::empty(),
        )?;
        Ok(())
    }

    /// Returns a directory's attributes from before it was made accessible.
    pub(crate) fn before(&self, at: &Path, seen: FileStat) -> FileStat {
        match self.known.get(at.as_os_str().as_bytes()) {
            Some(mode) if seen.is_dir() && seen.permissions() == mode | OWNER_PERMISSIONS => {
                FileStat {
                    mode: (seen.mode & !0o7777) | mode,
                    ..seen
                }
            }
            _ => seen,
        }
    }
}
