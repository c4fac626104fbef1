//! Comparison of two files by attributes and contents.

use crate::files::attributes::{self, Attributes};
use crate::files::file_stat::FileStat;
use crate::files::rooted_dir::RootedDir;
use crate::plan::FileAttributes;
use rustix::fs::FileType;
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Returns the bytes of a path, as they are stored.
pub(crate) fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// Returns a file's attributes, including extended ones.
pub(crate) fn file_attributes(
    tree: &mut RootedDir,
    path: &Path,
    stat: &FileStat,
) -> Result<FileAttributes, Errno> {
    let attributes = if stat.kind() == FileType::Symlink {
        Attributes::new()
    } else if path.as_os_str().is_empty() {
        attributes::all(tree.directory(path)?.as_fd(), OsStr::new("."))?
    } else {
        let (dir, name) = tree.parent(path)?;
        attributes::all(dir.as_fd(), name)?
    };
    Ok(FileAttributes::new(stat, attributes))
}

/// The number of bytes compared at a time.
const COMPARE_BUFFER_BYTES: u64 = 1 << 16;

/// True if two files have equal contents. `size` is their expected size, if known, else `u64::MAX`.
pub(crate) fn have_same_bytes(
    mut left_file: File,
    mut right_file: File,
    size: u64,
) -> io::Result<bool> {
    // Most files are small. One byte more than the size lets the first read detect the end of the
    // file.
    let room = size.saturating_add(1).clamp(2, COMPARE_BUFFER_BYTES) as usize;
    let (mut left, mut right) = (vec![0; room], vec![0; room]);
    loop {
        let length = left_file.read(&mut left)?;
        if length == 0 {
            return Ok(right_file.read(&mut right[..1])? == 0);
        }
        match right_file.read_exact(&mut right[..length]) {
            Ok(()) if left[..length] == right[..length] => {}
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}
