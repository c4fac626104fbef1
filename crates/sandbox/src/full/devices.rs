//! Private shared memory, message queues and terminals.

use crate::error::SandboxError;
use rustix::mount::{MountFlags, mount, mount_bind};
use std::path::Path;

const PTMX_PATH: &str = "/dev/ptmx";

pub(super) fn mount_private_file_systems() -> Result<(), SandboxError> {
    let plain = MountFlags::NOSUID | MountFlags::NODEV;
    let noexec = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount_private("/dev/shm", "tmpfs", plain, c"mode=1777")?;
    mount_private(
        "/dev/pts",
        "devpts",
        noexec,
        c"newinstance,ptmxmode=0666,mode=0620",
    )?;
    if Path::new("/dev/mqueue").is_dir() {
        mount_private("/dev/mqueue", "mqueue", plain | noexec, c"")?;
    }
    if !Path::new(PTMX_PATH).is_symlink() {
        mount_bind("/dev/pts/ptmx", PTMX_PATH).map_err(SandboxError::step("mounting /dev/ptmx"))?;
    }
    Ok(())
}

fn mount_private(
    path: &'static str,
    kind: &'static str,
    flags: MountFlags,
    options: &'static std::ffi::CStr,
) -> Result<(), SandboxError> {
    mount(kind, path, kind, flags, options).map_err(SandboxError::step(format!("mounting {path}")))
}
