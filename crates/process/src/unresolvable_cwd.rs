//! Detects that the path of this process's working directory cannot be resolved, because a parent
//! lacks search permission. Only processes that inherit such a directory can be in it. So this
//! program passes the directory on to its supervisors, and their shells use relative paths.

use crate::platform::is_known_directory;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// True if the path of this process's working directory cannot be resolved. May block as long as
/// the file system does.
pub(crate) fn is_cwd_unresolvable() -> bool {
    kernel_cwd().is_some_and(|cwd| lacks_search_permission(&cwd))
}

/// True if the working directory of this process cannot be resolved, and `path` is a directory
/// below the working directory that relative paths reach. May block as long as the file system
/// does.
pub fn is_reachable_from_cwd(path: &Path) -> bool {
    let rest = kernel_cwd()
        .filter(|cwd| lacks_search_permission(cwd))
        .and_then(|cwd| path.strip_prefix(cwd).map(Path::to_owned).ok());
    rest.is_some_and(|rest| Path::new(".").join(rest).is_dir())
}

/// True if a directory on the path lacks search permission.
fn lacks_search_permission(path: &Path) -> bool {
    let stat = || std::fs::metadata(path);
    !is_known_directory(path)
        && stat().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

/// Returns the working directory of this process, as reported by the kernel.
fn kernel_cwd() -> Option<PathBuf> {
    let cwd = rustix::process::getcwd(Vec::new()).ok()?;
    Some(PathBuf::from(OsStr::from_bytes(cwd.as_bytes())))
}
