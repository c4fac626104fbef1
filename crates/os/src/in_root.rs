//! Looks up paths below another root directory, or without following links.

use rustix::fs::OFlags;
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::Path;

/// True if `path` exists for a process with the root directory `root`, where absolute symbolic
/// links and `..` stay below the root. False if the lookup is not possible.
#[cfg(target_os = "linux")]
pub fn exists_in_root(root: &Path, path: &Path) -> bool {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let root = openat(CWD, root, flags | OFlags::DIRECTORY, Mode::empty());
    root.is_ok_and(|root| {
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        openat2(root, path, flags, Mode::empty(), resolve).is_ok()
    })
}

/// Returns false: only Linux supports the lookup.
#[cfg(not(target_os = "linux"))]
pub fn exists_in_root(_: &Path, _: &Path) -> bool {
    false
}

/// Opens an existing path with these flags; a symbolic link in the path is an error.
///
/// # Errors
/// `ELOOP` for a link, or the system's error. `ENOSYS` before Linux 5.6.
#[cfg(target_os = "linux")]
pub fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{CWD, Mode, ResolveFlags, openat2};
    let flags = flags | OFlags::CLOEXEC;
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

/// Returns an error: only Linux supports the lookup.
#[cfg(not(target_os = "linux"))]
pub fn open_without_links(_: &Path, _: OFlags) -> Result<OwnedFd, Errno> {
    Err(Errno::OPNOTSUPP)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn absolute_links_lead_below_the_root() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("root");
        std::fs::create_dir_all(root.join("in")).unwrap();
        std::fs::write(temp.path().join("outside"), "").unwrap();
        symlink(temp.path().join("outside"), root.join("absolute")).unwrap();
        symlink("../outside", root.join("relative")).unwrap();
        symlink("/in", root.join("own")).unwrap();
        let found = |path: &str| exists_in_root(&root, Path::new(path));
        assert!(found("in") && found("/in") && found("own") && found("../in"));
        assert!(!found("absolute") && !found("relative") && !found("../outside"));
        // Control: the links lead to a file outside.
        assert!(root.join("absolute").exists() && root.join("relative").exists());
    }
}
