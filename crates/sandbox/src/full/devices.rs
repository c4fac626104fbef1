//! Shared memory, message queues and terminals of the box's own.

use crate::error::BoxError;
use rustix::mount::{MountFlags, mount, mount_bind};
use std::path::Path;

const PTMX: &str = "/dev/ptmx";

/// Mounts them.
pub(super) fn make_own() -> Result<(), BoxError> {
    let plain = MountFlags::NOSUID | MountFlags::NODEV;
    let noexec = MountFlags::NOSUID | MountFlags::NOEXEC;
    own("/dev/shm", "tmpfs", plain, c"mode=1777")?;
    own(
        "/dev/pts",
        "devpts",
        noexec,
        c"newinstance,ptmxmode=0666,mode=0620",
    )?;
    if Path::new("/dev/mqueue").is_dir() {
        own("/dev/mqueue", "mqueue", plain | noexec, c"")?;
    }
    if !Path::new(PTMX).is_symlink() {
        mount_bind("/dev/pts/ptmx", PTMX).map_err(BoxError::step("mounting /dev/ptmx"))?;
    }
    Ok(())
}

fn own(
    at: &'static str,
    kind: &'static str,
    flags: MountFlags,
    options: &'static std::ffi::CStr,
) -> Result<(), BoxError> {
    mount(kind, at, kind, flags, options).map_err(BoxError::step(format!("mounting {at}")))
}
