//! Extended attributes of files. A file is identified by the descriptor of its directory, and by
//! its name there.

use crate::files::system::chmod;
use agent_bash_os::proc_path;
use rustix::fs::{
    AtFlags, Mode, XattrFlags, getxattr, lgetxattr, listxattr, llistxattr, lremovexattr, lsetxattr,
    statat,
};
use rustix::io::Errno;
use std::ffi::{CString, OsStr};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Extended attributes: pairs of name and value, sorted by name.
pub(crate) type Attributes = Vec<(Vec<u8>, Vec<u8>)>;

/// The prefix of overlayfs attributes.
const OVERLAY_PREFIX: &[u8] = b"user.overlay.";
/// Marks an opaque directory (`y`). With `x`, the directory may contain files marked as whiteouts.
pub(crate) const OPAQUE_ATTRIBUTE: &str = "user.overlay.opaque";
/// Marks an empty file as a whiteout.
pub(crate) const WHITEOUT_ATTRIBUTE: &str = "user.overlay.whiteout";

/// Returns a path through `/proc/self/fd`, because the attribute system calls take no directory
/// descriptor. A link that replaces a parent directory does not redirect this path.
fn path(dir: BorrowedFd<'_>, name: &OsStr) -> Result<CString, Errno> {
    let mut path = proc_path(&dir).into_bytes();
    path.push(b'/');
    path.extend_from_slice(name.as_bytes());
    CString::new(path).map_err(|_| Errno::INVAL)
}

/// Returns the value of one attribute; `None` if it does not exist.
pub(crate) fn value(
    dir: BorrowedFd<'_>,
    name: &OsStr,
    attribute: &str,
) -> Result<Option<Vec<u8>>, Errno> {
    read(&path(dir, name)?, attribute.as_bytes())
}

fn read(path: &CString, attribute: &[u8]) -> Result<Option<Vec<u8>>, Errno> {
    read_by(|name, value| lgetxattr(path, name, value), attribute)
}

fn read_by(
    read_into: impl Fn(&CString, &mut [u8]) -> Result<usize, Errno>,
    attribute: &[u8],
) -> Result<Option<Vec<u8>>, Errno> {
    let attribute = CString::new(attribute).map_err(|_| Errno::INVAL)?;
    // A second attempt reads longer values.
    let mut value = vec![0; 256];
    loop {
        match read_into(&attribute, value.as_mut_slice()) {
            Ok(length) => {
                value.truncate(length);
                return Ok(Some(value));
            }
            Err(Errno::RANGE) if value.len() < 1 << 16 => value.resize(1 << 16, 0),
            // Without read permission, the attributes count as missing.
            Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::ACCESS) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}

/// Returns all attributes except those of overlayfs. A last link is not followed.
pub(crate) fn all(dir: BorrowedFd<'_>, name: &OsStr) -> Result<Attributes, Errno> {
    all_at(&path(dir, name)?)
}

/// Returns the attributes of the file that a path leads to; a last link is followed.
pub(crate) fn all_following_link(path: &Path) -> Result<Attributes, Errno> {
    let path = CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::INVAL)?;
    let value = |name: &CString, value: &mut [u8]| getxattr(&path, name, value);
    let mut found = Vec::new();
    for attribute in list_names(|list| listxattr(&path, list))? {
        if !attribute.starts_with(OVERLAY_PREFIX)
            && let Some(value) = read_by(value, &attribute)?
        {
            found.push((attribute, value));
        }
    }
    found.sort();
    Ok(found)
}

fn all_at(path: &CString) -> Result<Attributes, Errno> {
    let mut found = Vec::new();
    for attribute in names(path)? {
        if !attribute.starts_with(OVERLAY_PREFIX)
            && let Some(value) = read(path, &attribute)?
        {
            found.push((attribute, value));
        }
    }
    found.sort();
    Ok(found)
}

fn names(path: &CString) -> Result<Vec<Vec<u8>>, Errno> {
    list_names(|list| llistxattr(path, list))
}

fn list_names(
    list_into: impl Fn(&mut [u8]) -> Result<usize, Errno>,
) -> Result<Vec<Vec<u8>>, Errno> {
    let mut list = vec![0; 256];
    loop {
        match list_into(list.as_mut_slice()) {
            Ok(length) => {
                list.truncate(length);
                break;
            }
            Err(Errno::RANGE) if list.len() < 1 << 16 => list.resize(1 << 16, 0),
            Err(Errno::OPNOTSUPP) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        }
    }
    let names = list
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty());
    Ok(names.map(<[u8]>::to_vec).collect())
}

/// Removes the attributes of overlayfs.
pub(crate) fn strip(dir: BorrowedFd<'_>, name: &OsStr) -> Result<(), Errno> {
    let path = path(dir, name)?;
    for attribute in names(&path)? {
        if attribute.starts_with(OVERLAY_PREFIX) {
            let attribute = CString::new(attribute).map_err(|_| Errno::INVAL)?;
            match lremovexattr(&path, &attribute) {
                // A read-only file is made writable for a moment.
                Err(Errno::ACCESS) => remove_from_read_only(dir, name, &path, &attribute)?,
                removed => removed?,
            }
        }
    }
    Ok(())
}

fn remove_from_read_only(
    dir: BorrowedFd<'_>,
    name: &OsStr,
    path: &CString,
    attribute: &CString,
) -> Result<(), Errno> {
    let stat = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let mode = Mode::from_raw_mode(stat.st_mode);
    chmod(dir, name, stat.st_ino, mode | Mode::RUSR | Mode::WUSR)?;
    let removed = lremovexattr(path, attribute);
    chmod(dir, name, stat.st_ino, mode)?;
    removed
}

/// Sets the attributes `wanted`, and removes all others except those of overlayfs.
pub(crate) fn replace_all(
    dir: BorrowedFd<'_>,
    name: &OsStr,
    wanted: &[(Vec<u8>, Vec<u8>)],
) -> Result<(), Errno> {
    let existing = all(dir, name)?;
    let path = path(dir, name)?;
    for (attribute, value) in wanted {
        if !existing.contains(&(attribute.clone(), value.clone())) {
            let attribute = CString::new(attribute.clone()).map_err(|_| Errno::INVAL)?;
            lsetxattr(&path, &attribute, value, XattrFlags::empty())?;
        }
    }
    for (attribute, _) in &existing {
        if !wanted.iter().any(|(name, _)| name == attribute) {
            let attribute = CString::new(attribute.clone()).map_err(|_| Errno::INVAL)?;
            lremovexattr(&path, &attribute)?;
        }
    }
    Ok(())
}
