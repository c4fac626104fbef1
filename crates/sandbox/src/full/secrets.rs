//! Covers secrets: mounts an empty directory or file without permissions over each.

use crate::error::SandboxError;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::mount::{MountFlags, mount, mount_bind, mount_remount};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The directory in which the empty files are created; the private `/dev/shm` is mounted over it
/// later.
const STAGE_DIRECTORY: &str = "/dev/shm";
const EMPTY_DIRECTORY: &str = "/dev/shm/directory";
const EMPTY_FILE: &str = "/dev/shm/file";

/// Covers these paths, which exist.
pub(super) fn cover(hidden: &BTreeSet<PathBuf>) -> Result<(), SandboxError> {
    if hidden.is_empty() {
        return Ok(());
    }
    stage().map_err(SandboxError::step("preparing to hide secrets"))?;
    let mut covered: Vec<&Path> = Vec::new();
    for path in hidden {
        let is_covered = covered.iter().any(|outer| path.starts_with(outer));
        // The private `/dev/shm` covers everything there.
        if is_covered || path.starts_with(STAGE_DIRECTORY) {
            continue;
        }
        let empty = if path.is_dir() {
            EMPTY_DIRECTORY
        } else {
            EMPTY_FILE
        };
        mount_bind(empty, path)
            .map_err(SandboxError::step(format!("hiding {}", path.display())))?;
        covered.push(path);
    }
    Ok(())
}

fn stage() -> rustix::io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount(
        "tmpfs", STAGE_DIRECTORY, "tmpfs", flags, c"mode=0755,size=64k",
    )?;
    rustix::fs::mkdirat(CWD, EMPTY_DIRECTORY, Mode::empty())?;
    let create = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
    drop(rustix::fs::openat(CWD, EMPTY_FILE, create, Mode::empty())?);
    // The file system itself becomes read-only, and so do all mounts of it.
    mount_remount(STAGE_DIRECTORY, flags | MountFlags::RDONLY, c"")
}
