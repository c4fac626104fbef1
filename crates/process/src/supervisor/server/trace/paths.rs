//! Resolves a path as the kernel does for the calling process: with its root, working directory,
//! descriptors, mounts and `/proc/self`.
//!
//! A path that has neither links nor `..` is opened by one call. Other paths are resolved component
//! by component, because an absolute link starts at the root of the calling process.

use super::named_file::{NamedFile, path_of};
use agent_bash_os::process_of_thread;
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, PROC_SUPER_MAGIC, ResolveFlags, StatxFlags, fstatfs,
    openat, openat2, readlinkat, statx,
};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

/// The kernel's limit for symbolic links in one path.
const MAX_LINKS: usize = 40;

/// The inode of the root directory of every `/proc`.
const PROC_ROOT_INODE: u64 = 1;

pub(super) const DIRECTORY_FLAGS: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The path argument of a system call, with the arguments and flags that determine its resolution.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathArgument<'a> {
    /// The calling thread.
    pub(super) thread: i32,
    /// The descriptor that a relative path starts at; `None` for the working directory.
    pub(super) directory_fd: Option<i32>,
    pub(super) path: &'a [u8],
    /// True if a link as the last component is followed.
    pub(super) follow: bool,
    /// True if the directory that the path starts at is also the root (`RESOLVE_IN_ROOT`).
    pub(super) in_root: bool,
}

impl PathArgument<'_> {
    /// Returns the file; `None` if a call with this path cannot succeed.
    ///
    /// # Errors
    /// This process cannot resolve the path, although the caller might.
    pub(super) fn resolve(&self) -> Result<Option<NamedFile>, Errno> {
        self.try_resolve().or_else(none_if_call_fails)
    }

    fn try_resolve(&self) -> Result<Option<NamedFile>, Errno> {
        let path = self.path;
        let is_absolute = path.first() == Some(&b'/');
        let is_plain = !self.in_root && !path.split(|byte| *byte == b'/').any(|name| name == b"..");
        if let Some((directory, name)) = split(path).filter(|_| is_plain) {
            if is_absolute && let Some(found) = self.resolve_canonical(directory, name)? {
                return Ok(Some(found));
            }
            match self.resolve_without_links(self.start(is_absolute)?, directory, name) {
                Err(Errno::LOOP | Errno::NOSYS) => {}
                found => return found.map(Some),
            }
        }
        let start = self.start(is_absolute && !self.in_root)?;
        ComponentWalk::new(*self, start).run()
    }

    /// Opens the root, or the directory that a relative path starts at.
    fn start(&self, at_root: bool) -> Result<OwnedFd, Errno> {
        let link = match self.directory_fd {
            _ if at_root => return self.root(),
            Some(number) => format!("/proc/{}/fd/{number}", self.thread),
            None => format!("/proc/{}/cwd", self.thread),
        };
        openat(CWD, link, DIRECTORY_FLAGS, Mode::empty())
    }

    fn root(&self) -> Result<OwnedFd, Errno> {
        let link = format!("/proc/{}/root", self.thread);
        openat(CWD, link, DIRECTORY_FLAGS, Mode::empty())
    }

    /// Opens an absolute path that contains no links. To prove this, compares `directory` with the
    /// path that the kernel reports for the opened directory. `None` if they differ, or if the last
    /// component is a link to be followed.
    fn resolve_canonical(
        &self,
        directory: &[u8],
        name: &OsStr,
    ) -> Result<Option<NamedFile>, Errno> {
        let link = format!("/proc/{}/root/", self.thread);
        let opened = [link.as_bytes(), directory].concat();
        // An absolute link in the path resolves from this process's root, not from the caller's.
        let Ok(opened) = openat(CWD, opened, DIRECTORY_FLAGS, Mode::empty()) else {
            return Ok(None);
        };
        let path = path_of(&opened)?;
        let is_same = path.as_os_str().as_bytes().strip_prefix(b"/") == Some(directory);
        if !is_same {
            return Ok(None);
        }
        let file = NamedFile::in_directory(opened, path, name)?;
        let is_followed_link = file.kind() == Some(FileType::Symlink) && self.follow;
        Ok((!is_followed_link).then_some(file))
    }

    /// Resolves a path without links.
    fn resolve_without_links(
        &self,
        start: OwnedFd,
        directory: &[u8],
        name: &OsStr,
    ) -> Result<NamedFile, Errno> {
        let parent = if directory.is_empty() {
            start
        } else {
            let flags = ResolveFlags::NO_SYMLINKS;
            openat2(&start, directory, DIRECTORY_FLAGS, Mode::empty(), flags)?
        };
        let file = NamedFile::at(parent, name)?;
        if file.kind() == Some(FileType::Symlink) && self.follow {
            return Err(Errno::LOOP);
        }
        Ok(file)
    }
}

/// Returns `None` for an error with which the caller's own system call fails.
fn none_if_call_fails(error: Errno) -> Result<Option<NamedFile>, Errno> {
    match error {
        Errno::NOENT
        | Errno::NOTDIR
        | Errno::ACCESS
        | Errno::LOOP
        | Errno::NAMETOOLONG
        | Errno::INVAL
        | Errno::XDEV => Ok(None),
        other => Err(other),
    }
}

/// Splits a path into directory and name; `None` if the path does not end in a name.
fn split(path: &[u8]) -> Option<(&[u8], &OsStr)> {
    let begin = path.iter().position(|byte| *byte != b'/')?;
    let path = &path[begin..];
    let slash = path.iter().rposition(|byte| *byte == b'/');
    let (directory, name) = match slash {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (&path[..0], path),
    };
    let is_name = !name.is_empty() && name != b".";
    is_name.then(|| (directory, OsStr::from_bytes(name)))
}

/// Resolves a path one component at a time.
struct ComponentWalk<'a> {
    argument: PathArgument<'a>,
    /// The root of the calling process, opened on first use.
    root: Option<OwnedFd>,
    current: OwnedFd,
    /// The components that are still to be resolved.
    rest: Vec<u8>,
    followed_links: usize,
}

/// The result of one component.
enum ComponentStep {
    Continue,
    End(Option<NamedFile>),
}

impl<'a> ComponentWalk<'a> {
    fn new(argument: PathArgument<'a>, start: OwnedFd) -> Self {
        Self {
            argument,
            root: None,
            current: start,
            rest: argument.path.to_vec(),
            followed_links: 0,
        }
    }

    fn run(mut self) -> Result<Option<NamedFile>, Errno> {
        if self.argument.in_root {
            self.root = Some(clone(&self.current)?);
        }
        loop {
            let begin = self.rest.iter().position(|byte| *byte != b'/');
            let Some(begin) = begin else {
                return NamedFile::of(self.current).map(Some);
            };
            let end = self.rest[begin..].iter().position(|byte| *byte == b'/');
            let end = end.map_or(self.rest.len(), |length| begin + length);
            let name = self.rest[begin..end].to_vec();
            self.rest.drain(..end);
            match self.step(OsStr::from_bytes(&name))? {
                ComponentStep::Continue => {}
                ComponentStep::End(found) => return Ok(found),
            }
        }
    }

    fn step(&mut self, name: &OsStr) -> Result<ComponentStep, Errno> {
        match name.as_bytes() {
            b"." => return Ok(ComponentStep::Continue),
            b".." => return self.up(),
            _ => {}
        }
        let is_last = self.rest.is_empty();
        let file = NamedFile::at(clone(&self.current)?, name)?;
        let is_followed = self.argument.follow || !is_last;
        match file.kind() {
            Some(FileType::Symlink) if is_followed => self.follow(name),
            _ if is_last => Ok(ComponentStep::End(Some(file))),
            // The name of a new directory may end in a slash.
            None if self.rest.iter().all(|byte| *byte == b'/') => {
                Ok(ComponentStep::End(Some(file)))
            }
            _ => {
                let flags = DIRECTORY_FLAGS | OFlags::NOFOLLOW;
                self.current = openat(&self.current, name, flags, Mode::empty())?;
                Ok(ComponentStep::Continue)
            }
        }
    }

    fn root(&mut self) -> Result<&OwnedFd, Errno> {
        if self.root.is_none() {
            self.root = Some(self.argument.root()?);
        }
        self.root.as_ref().ok_or(Errno::NOENT)
    }

    fn up(&mut self) -> Result<ComponentStep, Errno> {
        let current = directory_id(&self.current)?;
        if directory_id(self.root()?)? != current {
            self.current = openat(&self.current, "..", DIRECTORY_FLAGS, Mode::empty())?;
        }
        Ok(ComponentStep::Continue)
    }

    fn follow(&mut self, name: &OsStr) -> Result<ComponentStep, Errno> {
        self.followed_links += 1;
        if self.followed_links > MAX_LINKS {
            return Err(Errno::LOOP);
        }
        if fstatfs(&self.current)?.f_type == PROC_SUPER_MAGIC
            && let Some(target) = self.proc_link_target(name)?
        {
            let is_last = self.rest.iter().all(|byte| *byte == b'/');
            let found = NamedFile::of(clone(&target)?)?;
            if found.kind() != Some(FileType::Directory) && is_last {
                // A pipe has no path, and a removed file has no name: neither is a named file.
                let has_path = match found.path() {
                    Ok(path) => path.is_absolute(),
                    Err(error) => error == Errno::NAMETOOLONG,
                };
                let has_name = has_path && found.links() > 0;
                return Ok(ComponentStep::End(has_name.then_some(found)));
            }
            self.current = target;
            return Ok(ComponentStep::Continue);
        }
        let mut target = readlinkat(&self.current, name, Vec::new())?.into_bytes();
        if target.is_empty() {
            return Err(Errno::NOENT);
        }
        if target.first() == Some(&b'/') {
            self.current = clone(self.root()?)?;
        }
        target.append(&mut self.rest);
        self.rest = target;
        Ok(ComponentStep::Continue)
    }

    /// Opens the target of `/proc/self`, `/proc/thread-self` or a magic link. The text of such a
    /// link, as this process reads it, does not name the caller's target. `None` for other links.
    fn proc_link_target(&self, name: &OsStr) -> Result<Option<OwnedFd>, Errno> {
        let thread = self.argument.thread;
        let caller_pid = match name.as_bytes() {
            b"self" => Some(process_of_thread(thread).unwrap_or(thread)),
            b"thread-self" => Some(thread),
            _ => None,
        };
        if let Some(caller_pid) = caller_pid.filter(|_| is_proc_root(&self.current)) {
            let caller_directory = format!("/proc/{caller_pid}");
            return openat(CWD, caller_directory, DIRECTORY_FLAGS, Mode::empty()).map(Some);
        }
        let (flags, no_magic) = (OFlags::PATH | OFlags::CLOEXEC, ResolveFlags::NO_MAGICLINKS);
        match openat2(&self.current, name, flags, Mode::empty(), no_magic) {
            Err(Errno::LOOP) => openat(&self.current, name, flags, Mode::empty()).map(Some),
            _ => Ok(None),
        }
    }
}

fn clone(directory: &OwnedFd) -> Result<OwnedFd, Errno> {
    rustix::io::fcntl_dupfd_cloexec(directory, 0)
}

fn is_proc_root(directory: &OwnedFd) -> bool {
    let found = statx(directory, "", AtFlags::EMPTY_PATH, StatxFlags::INO);
    found.is_ok_and(|found| found.stx_ino == PROC_ROOT_INODE)
}

/// Returns the device's major and minor number, the inode and the mount of a directory.
fn directory_id(directory: &OwnedFd) -> Result<(u32, u32, u64, u64), Errno> {
    let wanted = StatxFlags::INO | StatxFlags::MNT_ID;
    let found = statx(directory, "", AtFlags::EMPTY_PATH, wanted)?;
    Ok((
        found.stx_dev_major, found.stx_dev_minor, found.stx_ino, found.stx_mnt_id,
    ))
}
