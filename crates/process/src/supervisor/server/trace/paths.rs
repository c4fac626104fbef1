//! Which file a process means by a path: its own directory and descriptors, links, and the name that is left.

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, readlinkat, stat, statat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// As many links as the kernel follows.
const LINKS: usize = 40;

/// A file by the path that has no links in it but, perhaps, the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResolvedPath {
    pub(super) path: PathBuf,
    /// `None` if nothing is there.
    pub(super) kind: Option<FileType>,
}

/// What this descriptor of a process is; `None` if it has no name, or none any more.
pub(super) fn opened(thread: i32, number: i32) -> Option<ResolvedPath> {
    let link = format!("/proc/{thread}/fd/{number}");
    let path = target(CWD, OsStr::new(&link)).ok()?;
    let stat = stat(&*link).ok()?;
    (path.is_absolute() && stat.st_nlink > 0 && !is_apart(&path)).then(|| ResolvedPath {
        path,
        kind: Some(FileType::from_raw_mode(stat.st_mode)),
    })
}

/// What is meant by a path; a relative one begins at the process's descriptor `from`, or its working directory. `None`
/// if a call with that path cannot succeed, or changes no file that is kept.
pub(super) fn named(
    thread: i32,
    from: Option<i32>,
    path: &[u8],
    follow: bool,
) -> Result<Option<ResolvedPath>, Errno> {
    let mut wanted = begun(thread, from, path);
    let mut at: Option<OwnedFd> = None;
    for _ in 0..LINKS {
        let Some((parent, name)) = split(&wanted) else {
            return whole(at.as_ref(), &wanted);
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let start = at.as_ref().map_or(CWD, AsFd::as_fd);
        let parent = match openat(start, parent, flags, Mode::empty()) {
            Ok(parent) => parent,
            Err(error) => return none_or(error),
        };
        let is_directory = wanted.last() == Some(&b'/');
        let kind = match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Some(FileType::from_raw_mode(found.st_mode)),
            Err(Errno::NOENT) => None,
            Err(error) => return none_or(error),
        };
        if kind == Some(FileType::Symlink) && (follow || is_directory) {
            let led = match target(parent.as_fd(), name) {
                Ok(led) => led.into_os_string().into_vec(),
                Err(error) => return none_or(error),
            };
            wanted = begun_at(thread, led);
            at = Some(parent);
            continue;
        }
        let directory = own_path(&parent)?;
        let path = directory.join(name);
        return Ok((!is_apart(&path)).then_some(ResolvedPath { path, kind }));
    }
    Ok(None)
}

/// A call by a path that leads nowhere fails by itself; of others it must be known what they change.
fn none_or(error: Errno) -> Result<Option<ResolvedPath>, Errno> {
    match error {
        Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP | Errno::NAMETOOLONG => Ok(None),
        other => Err(other),
    }
}

/// The path as seen from here.
fn begun(thread: i32, from: Option<i32>, path: &[u8]) -> Vec<u8> {
    if path.first() == Some(&b'/') {
        return begun_at(thread, path.to_vec());
    }
    let base = match from {
        Some(number) => format!("/proc/{thread}/fd/{number}/"),
        None => format!("/proc/{thread}/cwd/"),
    };
    [base.as_bytes(), path].concat()
}

/// An absolute path begins at the process's own root, and has its own meaning of itself.
fn begun_at(thread: i32, path: Vec<u8>) -> Vec<u8> {
    for itself in [&b"/proc/self/"[..], b"/proc/thread-self/"] {
        if let Some(rest) = path.strip_prefix(itself) {
            return [format!("/proc/{thread}/").as_bytes(), rest].concat();
        }
    }
    if path.first() == Some(&b'/') {
        return [format!("/proc/{thread}/root").as_bytes(), &path].concat();
    }
    path
}

/// The directory and the name in it; `None` if the path ends in no name.
fn split(path: &[u8]) -> Option<(&OsStr, &OsStr)> {
    let end = path.iter().rposition(|byte| *byte != b'/')? + 1;
    let begin = path[..end].iter().rposition(|byte| *byte == b'/');
    let begin = begin.map_or(0, |slash| slash + 1);
    let name = &path[begin..end];
    let parent = if begin == 0 { b"." } else { &path[..begin] };
    let names = ![&b"."[..], b".."].contains(&name);
    names.then(|| (OsStr::from_bytes(parent), OsStr::from_bytes(name)))
}

/// A path that ends in no name is that of a directory.
fn whole(at: Option<&OwnedFd>, path: &[u8]) -> Result<Option<ResolvedPath>, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let start = at.map_or(CWD, AsFd::as_fd);
    let directory = match openat(start, path, flags, Mode::empty()) {
        Ok(directory) => directory,
        Err(error) => return none_or(error),
    };
    let path = own_path(&directory)?;
    let kind = Some(FileType::Directory);
    Ok((!is_apart(&path)).then_some(ResolvedPath { path, kind }))
}

fn own_path(directory: &OwnedFd) -> Result<PathBuf, Errno> {
    let link = format!("/proc/self/fd/{}", directory.as_raw_fd());
    target(CWD, OsStr::new(&link))
}

fn target(directory: BorrowedFd<'_>, name: &OsStr) -> Result<PathBuf, Errno> {
    let target = readlinkat(directory, name, Vec::new())?;
    Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
}

/// File systems of the kernel's own, and devices: what is written there is no file. Shared memory is.
fn is_apart(path: &Path) -> bool {
    let below = |directory| path.starts_with(directory);
    below("/proc") || below("/sys") || (below("/dev") && !below("/dev/shm"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn own() -> i32 {
        std::process::id().cast_signed()
    }

    fn path_of(found: Result<Option<ResolvedPath>, Errno>) -> Option<PathBuf> {
        found.unwrap().map(|found| found.path)
    }

    #[test]
    fn links_lead_where_the_kernel_takes_them() {
        let temp = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temp.path()).unwrap();
        fs::create_dir(base.join("d")).unwrap();
        fs::write(base.join("d/file"), "").unwrap();
        symlink("d", base.join("to_d")).unwrap();
        symlink("../to_d/file", base.join("d/relative")).unwrap();
        symlink(base.join("d/relative"), base.join("absolute")).unwrap();
        symlink("gone", base.join("dangling")).unwrap();
        symlink("loop", base.join("loop")).unwrap();
        let file = fs::File::open(&base).unwrap();
        let from = Some(file.as_raw_fd());
        let look = |path: &str, follow| named(own(), from, path.as_bytes(), follow);
        let at = |name: &str| Some(base.join(name));
        assert_eq!(path_of(look("absolute", true)), at("d/file"));
        assert_eq!(path_of(look("absolute", false)), at("absolute"));
        assert_eq!(path_of(look("to_d/../d//relative", true)), at("d/file"));
        assert_eq!(path_of(look("to_d/", false)), at("d"));
        assert_eq!(path_of(look("d/.", true)), at("d"));
        assert_eq!(path_of(look("d/..", true)), Some(base.clone()));
        let dangling = look("dangling", true).unwrap().unwrap();
        assert_eq!((Some(dangling.path), dangling.kind), (at("gone"), None));
        assert_eq!(look("loop", true), Ok(None));
        assert_eq!(look("no/file", true), Ok(None));
        let whole = base.join("d/file");
        let absolute = named(own(), None, whole.as_os_str().as_bytes(), true);
        assert_eq!(path_of(absolute), Some(whole.clone()));
        let through = format!("/proc/self/fd/{}/d/file", file.as_raw_fd());
        assert_eq!(
            path_of(named(own(), None, through.as_bytes(), true)),
            Some(whole)
        );
    }

    #[test]
    fn devices_and_what_has_no_name_are_no_files() {
        assert_eq!(named(own(), None, b"/dev/null", true), Ok(None));
        let temp = tempfile::NamedTempFile::new().unwrap();
        let found = opened(own(), temp.as_file().as_raw_fd()).unwrap();
        assert_eq!(found.path, fs::canonicalize(temp.path()).unwrap());
        let (file, path) = temp.keep().unwrap();
        fs::remove_file(path).unwrap();
        assert_eq!(opened(own(), file.as_raw_fd()), None);
    }
}
