//! System calls that exist on some systems only, with substitutes for the others. (Differences that
//! matter in a single place are handled there, with `cfg`.)

use crate::system_error::{UNNAMED_FILE, system_error};
use agent_bash_os::{FsType, O_PATH, open_cached, proc_path};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

/// Creates a FIFO that only its owner can open.
///
/// # Errors
/// The name exists, or the system fails.
pub fn make_fifo(path: &Path) -> io::Result<()> {
    use nix::sys::stat::Mode;
    Ok(nix::unistd::mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR)?)
}

/// True if the kernel knows from its caches, without asking a file system, that this is a
/// directory. If false, the path has to be looked up, which may block for as long as the file
/// system does.
pub fn is_known_directory(path: &Path) -> bool {
    open_cached(path, OFlags::DIRECTORY).is_ok()
}

/// Resolves the links of a path from the kernel's caches, without access to a file system or an
/// automounter. If the kernel has no such lookups (before Linux 5.12, or a seccomp filter refuses
/// them), this function looks up each component, which may block as long as a file system does.
///
/// # Errors
/// `NotFound` if the path does not exist. Another error if a lookup by the kernel or an automounter
/// would be necessary.
pub fn known_path(path: &Path) -> io::Result<PathBuf> {
    match open_cached(path, OFlags::empty()) {
        Ok(opened) => std::fs::read_link(proc_path(&opened)),
        Err(_) if cfg!(not(target_os = "linux")) => path.canonicalize(),
        Err(error) if is_unsupported(error) => resolve_links(path),
        Err(error) => Err(error.into()),
    }
}

/// True if the system does not support lookups that use only its caches.
fn is_unsupported(error: Errno) -> bool {
    matches!(
        error,
        Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::OPNOTSUPP
    )
}

/// The kernel's limit for symbolic links in one path.
const MAX_LINKS: usize = 40;

/// Resolves the links of an absolute path, component by component. Fails instead of triggering a
/// mount.
fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    let mut resolved = PathBuf::from("/");
    let mut links = 0;
    let mut rest: Vec<OsString> = components(path);
    while let Some(name) = rest.pop() {
        if name == ".." {
            resolved.pop();
            continue;
        }
        let next = resolved.join(&name);
        // With these flags, opening an automounter's directory mounts nothing.
        let flags = O_PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&next, flags, Mode::empty())?;
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&opened)?.st_mode);
        if kind == FileType::Symlink {
            links += 1;
            if links > MAX_LINKS {
                return Err(Errno::LOOP.into());
            }
            let target = std::fs::read_link(&next)?;
            if target.is_absolute() {
                resolved = PathBuf::from("/");
            }
            rest.extend(components(&target));
        } else if !rest.is_empty() && is_open_automounter(&opened) {
            return Err(Errno::AGAIN.into());
        } else {
            resolved = next;
        }
    }
    Ok(resolved)
}

/// Returns the components of a path, last one first.
fn components(path: &Path) -> Vec<OsString> {
    let components = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    });
    components.rev().collect()
}

/// Returns the target of a symbolic link. The link itself is looked up as in [`known_path`], the
/// target is not.
///
/// # Errors
/// The path does not exist, is not a link, or the kernel would have to look it up.
pub fn known_link(path: &Path) -> io::Result<PathBuf> {
    let opened = match open_cached(path, OFlags::NOFOLLOW) {
        Ok(opened) => opened,
        Err(error) if is_unsupported(error) && !path.parent().is_some_and(is_automounter) => {
            return std::fs::read_link(path);
        }
        Err(error) => return Err(error.into()),
    };
    let target = rustix::fs::readlinkat(&opened, c"", Vec::new())?;
    Ok(OsString::from_vec(target.into_bytes()).into())
}

/// True if looking up a name in this directory mounts something.
pub fn is_automounter(directory: &Path) -> bool {
    let flags = O_PATH | OFlags::CLOEXEC;
    let opened = rustix::fs::open(directory, flags, Mode::empty());
    opened.is_ok_and(is_open_automounter)
}

fn is_open_automounter(directory: impl AsFd) -> bool {
    // From `linux/magic.h`.
    const AUTOFS_MAGIC: FsType = 0x187;
    rustix::fs::fstatfs(directory).is_ok_and(|resolved| resolved.f_type == AUTOFS_MAGIC)
}

#[cfg(target_os = "linux")]
mod system {
    use super::{AsFd, Errno, OwnedFd};
    use rustix::fs::{MemfdFlags, memfd_create};
    use rustix::net::{RecvFlags, SendFlags};
    use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

    pub(crate) const RECEIVE_FLAGS: RecvFlags = RecvFlags::CMSG_CLOEXEC;
    pub(crate) const SEND_FLAGS: SendFlags = SendFlags::NOSIGNAL;

    pub(crate) fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
        pipe_with(PipeFlags::CLOEXEC)
    }

    pub(crate) fn unnamed_file(label: &str) -> Result<OwnedFd, Errno> {
        memfd_create(label, MemfdFlags::CLOEXEC)
    }

    pub(crate) fn random_bytes<const N: usize>() -> std::io::Result<[u8; N]> {
        use rustix::rand::{GetRandomFlags, getrandom};
        let mut bytes = [0; N];
        // The kernel never returns less than 256 bytes in part.
        let filled = getrandom(&mut bytes, GetRandomFlags::empty())?;
        if filled < N {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok(bytes)
    }

    pub(crate) fn shrink_pipe(pipe: impl AsFd) {
        let _ = fcntl_setpipe_size(pipe, 1);
    }

    /// True if a child that runs as the same user can open this process's descriptors by their
    /// paths below `/proc`.
    pub(crate) fn shows_descriptors() -> bool {
        use rustix::process::{DumpableBehavior, dumpable_behavior};
        use rustix::thread::{CapabilitySet, capabilities};
        dumpable_behavior() == Ok(DumpableBehavior::Dumpable)
            || capabilities(None).is_ok_and(|own| own.effective.contains(CapabilitySet::SYS_PTRACE))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{AsFd, Errno, OwnedFd};
    use rustix::fs::{Mode, OFlags, open, unlink};
    use rustix::io::{FdFlags, fcntl_setfd};
    use rustix::net::{RecvFlags, SendFlags};

    pub(crate) const RECEIVE_FLAGS: RecvFlags = RecvFlags::empty();
    /// No flag is needed: Rust's runtime ignores SIGPIPE.
    pub(crate) const SEND_FLAGS: SendFlags = SendFlags::empty();

    pub(crate) fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
        let (read, write) = rustix::pipe::pipe()?;
        fcntl_setfd(&read, FdFlags::CLOEXEC)?;
        fcntl_setfd(&write, FdFlags::CLOEXEC)?;
        Ok((read, write))
    }

    pub(crate) fn unnamed_file(label: &str) -> Result<OwnedFd, Errno> {
        let path = std::env::temp_dir().join(format!(".{label}-{}", std::process::id()));
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = open(&path, flags, Mode::RUSR | Mode::WUSR)?;
        unlink(&path)?;
        Ok(file)
    }

    pub(crate) fn random_bytes<const N: usize>() -> std::io::Result<[u8; N]> {
        let mut bytes = [0; N];
        std::io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, &mut bytes)?;
        Ok(bytes)
    }

    pub(crate) fn shrink_pipe(_: impl AsFd) {}

    pub(crate) fn shows_descriptors() -> bool {
        false
    }
}

pub(crate) use system::shows_descriptors;
/// Flags for receiving and sending messages with descriptors.
pub(crate) use system::{RECEIVE_FLAGS, SEND_FLAGS};

/// Creates a close-on-exec pipe; returns the read end first.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    system::pipe().map_err(|error| system_error("a pipe", error))
}

/// Creates an empty anonymous file; the label is only visible in lists of open files.
///
/// # Errors
/// System errors.
pub fn unnamed_file(label: &str) -> io::Result<OwnedFd> {
    system::unnamed_file(label).map_err(|error| system_error(UNNAMED_FILE, error))
}

/// Returns at most 256 random bytes that no other process can know.
///
/// # Errors
/// The system has no random bytes.
pub fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    system::random_bytes()
}

/// Shrinks a pipe so that a single byte fills it: when it is writable again, the byte was read.
/// Linux only; elsewhere a no-op.
pub fn shrink_pipe(pipe: impl AsFd) {
    system::shrink_pipe(pipe);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn resolve_links_agrees_with_canonicalize() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("a/b")).unwrap();
        fs::write(base.join("a/b/file"), "").unwrap();
        symlink("a/b", base.join("near")).unwrap();
        symlink(base.join("near"), base.join("a/far")).unwrap();
        symlink("loop", base.join("loop")).unwrap();
        for path in [
            "a/b/file", "near/file", "a/far/../b/file", "near/../far/file", ".",
        ] {
            let path = base.join(path);
            assert_eq!(
                resolve_links(&path).unwrap(),
                fs::canonicalize(&path).unwrap()
            );
        }
        let missing = resolve_links(&base.join("near/none")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        assert!(resolve_links(&base.join("loop")).is_err());
        assert_eq!(resolve_links(Path::new("/")).unwrap(), Path::new("/"));
    }
}
