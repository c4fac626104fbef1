//! The overlay of a trial: reads come from the workspace, writes go to the trial's directory, at
//! the same path.

use super::{mounts, namespaces};
use crate::error::SandboxError;
use agent_bash_core::changes::Overlay;
use agent_bash_os::proc_path;
use rustix::fs::{CWD, Mode, OFlags, fstat, fstatfs, openat};
use rustix::io::Errno;
use rustix::mount::mount_bind;
use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// `f_type` of overlayfs, from linux/magic.h.
const OVERLAYFS_MAGIC: i64 = 0x794C_7630;

/// Checks whether an overlay is possible, as far as this can be determined in the host's
/// namespaces. `table` is the mount table.
pub(crate) fn check(trial: &Overlay, table: &[u8]) -> Result<(), SandboxError> {
    let Overlay { root, upper, work } = trial;
    if let Some(inner) = [upper, work]
        .into_iter()
        .find(|directory| directory.starts_with(root))
    {
        return Err(no_trial(format!(
            "the trial's changes would be stored in `{}`, which is within `{}` itself",
            inner.display(),
            root.display()
        )));
    }
    if let Some(below) = mounts::below(root, table) {
        return Err(no_trial(format!(
            "something is mounted at `{}`, and an overlay of `{}` would not show it",
            below.display(),
            root.display()
        )));
    }
    may_copy(&directory(root)?, root)
}

/// Mounts the overlay in this process's mount namespace. The directories of `private_directories`
/// that are in the workspace stay outside the overlay.
pub(crate) fn mount(trial: &Overlay, private_directories: &[PathBuf]) -> Result<(), SandboxError> {
    let Overlay { root, upper, work } = trial;
    let lower = directory(root)?;
    let (upper, work) = (directory(upper)?, directory(work)?);
    let real_directories: Vec<(&PathBuf, OwnedFd)> = private_directories
        .iter()
        .filter(|path| path.starts_with(root))
        .map(|path| Ok((path, directory(path)?)))
        .collect::<Result<_, SandboxError>>()?;
    // Descriptors need no escaping and have no length limit.
    let layers = format!(
        "lowerdir={},upperdir={},workdir={},userxattr,volatile",
        proc_path(&lower),
        proc_path(&upper),
        proc_path(&work)
    );
    let layers = CString::new(layers).map_err(|error| no_trial(error.to_string()))?;
    let refuse = |error| mount_error(root, (&trial.upper, &upper), error);
    let flags = mounts::flags_of(&lower).map_err(refuse)?;
    rustix::mount::mount("overlay", proc_path(&lower), "overlay", flags, &*layers)
        .map_err(refuse)?;
    for (path, real) in real_directories {
        mount_bind(proc_path(&real), path)
            .map_err(|error| no_trial(format!("mounting `{}`: {error}", path.display())))?;
    }
    Ok(())
}

fn no_trial(reason: String) -> SandboxError {
    SandboxError::NoTrial(reason)
}

fn directory(path: &Path) -> Result<OwnedFd, SandboxError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(CWD, path, flags, Mode::empty())
        .map_err(|error| no_trial(format!("opening `{}`: {error}", path.display())))
}

/// Checks that the kernel can copy files of the workspace up. In a user namespace only this user
/// exists, so files of other users or groups cannot be copied up. Only the owner of the workspace
/// itself is checked; checking all files would take long.
fn may_copy(lower: &OwnedFd, root: &Path) -> Result<(), SandboxError> {
    let stat = fstat(lower).map_err(|error| no_trial(format!("`{}`: {error}", root.display())))?;
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let is_owner = stat.st_uid == user.as_raw() && stat.st_gid == group.as_raw();
    if is_owner || namespaces::may_create_namespaces()? {
        return Ok(());
    }
    Err(no_trial(format!(
        "`{}` belongs to user {} and group {}, and without privileges only files of user {user} and group {group} can be changed in a trial",
        root.display(),
        stat.st_uid,
        stat.st_gid,
    )))
}

/// Returns the advice for a state directory on an overlay: a setting that moves the directory to
/// another file system.
fn state_directory_advice() -> &'static str {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let memory = openat(CWD, "/dev/shm", flags, Mode::empty());
    let memory = memory.and_then(|opened| fstatfs(&opened));
    match memory {
        Ok(found) if found.f_type != OVERLAYFS_MAGIC => {
            "set `AGENT_BASH_STATE_DIR` to a directory on another file system, such as `/dev/shm/agent-bash`, for all commands of `agent-bash`"
        }
        _ => {
            "set `AGENT_BASH_STATE_DIR` to a directory on another file system, such as a volume, for all commands of `agent-bash`"
        }
    }
}

/// Returns the error for an overlay that the kernel does not mount.
fn mount_error(root: &Path, (upper_path, upper): (&Path, &OwnedFd), error: Errno) -> SandboxError {
    let root = root.display();
    let nested = fstatfs(upper).is_ok_and(|stat| stat.f_type == OVERLAYFS_MAGIC);
    no_trial(match error {
        Errno::NODEV => "this kernel has no overlayfs".to_owned(),
        Errno::INVAL if nested => format!(
            "the trial's changes would be stored in `{}`, which is on an overlay (perhaps of a container), which the kernel cannot use for another overlay; {} (`{root}`: {error})",
            upper_path.display(),
            state_directory_advice()
        ),
        Errno::PERM | Errno::ACCESS => format!(
            "this system lets no unprivileged process mount an overlay on `{root}`: {error}"
        ),
        other => format!("the kernel mounts no overlay on `{root}`: {other}"),
    })
}
