//! The working directory of this process if its path cannot be resolved: below a parent without
//! search permission, a directory is reachable only by those already inside. A program started
//! there passes its working directory down to its supervisors, and their shells resolve paths
//! relative to it.

use crate::platform::is_known_directory;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// True if the path of this process's working directory cannot be resolved. May block as long as
/// the file system does, as may the next function.
pub(crate) fn is_cut_off() -> bool {
    kernel_cwd().is_some_and(|here| is_barred(&here))
}

/// True if a path that cannot be resolved names a directory that a shell can reach from this
/// process's working directory.
pub fn is_reached_from_here(path: &Path) -> bool {
    let rest = kernel_cwd()
        .filter(|here| is_barred(here))
        .and_then(|here| path.strip_prefix(here).map(Path::to_owned).ok());
    rest.is_some_and(|rest| Path::new(".").join(rest).is_dir())
}

/// True if a directory on the path lacks search permission.
fn is_barred(path: &Path) -> bool {
    let looked_at = || std::fs::metadata(path);
    !is_known_directory(path)
        && looked_at().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

/// The working directory of this process, as reported by the kernel.
fn kernel_cwd() -> Option<PathBuf> {
    let here = rustix::process::getcwd(Vec::new()).ok()?;
    Some(PathBuf::from(OsStr::from_bytes(here.as_bytes())))
}
