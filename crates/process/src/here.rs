//! Where this process stands, if its path does not lead there: below a parent that may not be searched a directory is reached only
//! from within. A program that was started there hands its place down to its supervisors, and their shells go by those.

use crate::platform::is_known_directory;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Whether this process stands in a directory that its path does not lead to. May take as long as its file system likes, as may
/// the next.
pub(crate) fn is_cut_off() -> bool {
    here().is_some_and(|here| is_barred(&here))
}

/// Whether a path that does not lead there is that of a directory which a shell gets to from where this process stands.
pub fn is_reached_from_here(path: &Path) -> bool {
    let rest = here()
        .filter(|here| is_barred(here))
        .and_then(|here| path.strip_prefix(here).map(Path::to_owned).ok());
    rest.is_some_and(|rest| Path::new(".").join(rest).is_dir())
}

/// Whether a directory on the way may not be searched.
fn is_barred(path: &Path) -> bool {
    let looked_at = || std::fs::metadata(path);
    !is_known_directory(path)
        && looked_at().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

/// The directory of this process, as the system has it.
fn here() -> Option<PathBuf> {
    let here = rustix::process::getcwd(Vec::new()).ok()?;
    Some(PathBuf::from(OsStr::from_bytes(here.as_bytes())))
}
