//! The overlay of a trial: reads come from the workspace, writes go to the trial's directory, at
//! the same path.

use super::{mounts, namespaces};
use crate::error::SandboxError;
use agent_bash_core::changes::Overlay;
use rustix::fs::{CWD, Mode, OFlags, fstat, fstatfs, openat};
use rustix::io::Errno;
use rustix::mount::mount_bind;
use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// `f_type` of overlayfs, from linux/magic.h.
const OVERLAYFS_MAGIC: i64 = 0x794C_7630;

/// Checks whether an overlay is possible, as far as that is known in the host's namespaces. `table`
/// is the mount table.
pub(crate) fn check(trial: &Overlay, table: &[u8]) -> Result<(), SandboxError> {
    let Overlay { root, upper, work } = trial;
    if let Some(inner) = [upper, work].into_iter().find(|it| it.starts_with(root)) {
        return Err(no(format!(
            "what it changes would be kept in `{}`, which is within `{}` itself",
            inner.display(),
            root.display()
        )));
    }
    if let Some(below) = mounts::below(root, table) {
        return Err(no(format!(
            "something is mounted at `{}`, and an overlay of `{}` would not show it",
            below.display(),
            root.display()
        )));
    }
    may_copy(&directory(root)?, root)
}

/// Mounts the overlay in this process's mount namespace. Private directories in `own` that are in
/// the workspace stay outside the overlay.
pub(crate) fn mount(trial: &Overlay, own: &[PathBuf]) -> Result<(), SandboxError> {
    let Overlay { root, upper, work } = trial;
    let lower = directory(root)?;
    let (upper, work) = (directory(upper)?, directory(work)?);
    let kept: Vec<(&PathBuf, OwnedFd)> = own
        .iter()
        .filter(|path| path.starts_with(root))
        .map(|path| Ok((path, directory(path)?)))
        .collect::<Result<_, SandboxError>>()?;
    // Descriptors need no escaping and have no length limit.
    let layers = format!(
        "lowerdir={},upperdir={},workdir={},userxattr,volatile",
        name(&lower),
        name(&upper),
        name(&work)
    );
    let layers = CString::new(layers).map_err(|error| no(error.to_string()))?;
    let refuse = |error| refused(root, (&trial.upper, &upper), error);
    let flags = mounts::flags_of(&lower).map_err(refuse)?;
    rustix::mount::mount("overlay", name(&lower), "overlay", flags, &*layers).map_err(refuse)?;
    for (path, real) in kept {
        mount_bind(name(&real), path)
            .map_err(|error| no(format!("mounting `{}`: {error}", path.display())))?;
    }
    Ok(())
}

fn no(reason: String) -> SandboxError {
    SandboxError::NoTrial(reason)
}

fn directory(path: &Path) -> Result<OwnedFd, SandboxError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(CWD, path, flags, Mode::empty())
        .map_err(|error| no(format!("opening `{}`: {error}", path.display())))
}

fn name(descriptor: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", descriptor.as_raw_fd())
}

/// In a user namespace only this user exists, so files of other users or groups cannot be copied
/// up. Only the owner of the workspace itself is checked; checking all files would take long.
fn may_copy(lower: &OwnedFd, root: &Path) -> Result<(), SandboxError> {
    let stat = fstat(lower).map_err(|error| no(format!("`{}`: {error}", root.display())))?;
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let own = stat.st_uid == user.as_raw() && stat.st_gid == group.as_raw();
    if own || namespaces::are_allowed()? {
        return Ok(());
    }
    Err(no(format!(
        "`{}` belongs to user {} and group {}, and without privileges only files of user {user} and group {group} can be changed in one",
        root.display(),
        stat.st_uid,
        stat.st_gid,
    )))
}

/// Returns the advice for a state directory on an overlay: a setting that moves the directory to
/// another file system.
fn cure() -> &'static str {
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
fn refused(root: &Path, (kept, upper): (&Path, &OwnedFd), error: Errno) -> SandboxError {
    let root = root.display();
    let nested = fstatfs(upper).is_ok_and(|stat| stat.f_type == OVERLAYFS_MAGIC);
    no(match error {
        Errno::NODEV => "this kernel has no overlayfs".to_owned(),
        Errno::INVAL if nested => format!(
            "what it changes would be kept in `{}`, which is on an overlay (a container's own, perhaps), and the kernel takes none for that; {} (`{root}`: {error})",
            kept.display(),
            cure()
        ),
        Errno::PERM | Errno::ACCESS => format!(
            "this system lets no unprivileged process mount an overlay on `{root}`: {error}"
        ),
        other => format!("the kernel mounts no overlay on `{root}`: {other}"),
    })
}
