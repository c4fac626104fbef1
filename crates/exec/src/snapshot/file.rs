//! A snapshot's file: in a private directory, written atomically, removed with its last user. Files left by dead
//! processes are swept.

use agent_bash_process::ProcessInfo;
use rustix::fs::{self, AtFlags, Dir, Mode, OFlags};
use rustix::io::Errno;
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Extension of a snapshot. Its name is `<pid namespace>-<pid>-<start>-<number>.bash`, which identifies its owner.
const SUFFIX: &str = ".bash";

/// Extension of a file that is being written.
const DRAFT: &str = ".new";

/// A file whose process cannot be checked, because it lives in another namespace, is swept after this time.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);

/// Limit of file names to try: one process has a snapshot for each cache and environment.
const MAX_FILES: u32 = 10_000;

/// A snapshot on disk. Removed when dropped.
#[derive(Debug)]
pub(super) struct SnapshotFile {
    path: PathBuf,
}

impl SnapshotFile {
    /// Writes a file atomically.
    pub(super) fn write(directory: &Path, bytes: &[u8]) -> io::Result<Self> {
        let dir = open_private(directory)?;
        let owner = Owner::this_process();
        for number in 0..MAX_FILES {
            let name = format!("{}-{number}{SUFFIX}", owner.text());
            let draft = format!("{name}{DRAFT}");
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let file = match fs::openat(&dir, draft.as_str(), flags, Mode::RUSR | Mode::WUSR) {
                Ok(file) => file,
                Err(Errno::EXIST) => continue,
                Err(error) => return Err(error.into()),
            };
            // A link rather than a rename: it does not replace an existing file.
            let linked = File::from(file).write_all(bytes).and_then(|()| {
                let to = name.as_str();
                Ok(fs::linkat(
                    &dir,
                    draft.as_str(),
                    &dir,
                    to,
                    AtFlags::empty(),
                )?)
            });
            let _ = fs::unlinkat(&dir, draft.as_str(), AtFlags::empty());
            match linked {
                Ok(()) => {
                    let path = directory.join(name);
                    return Ok(Self { path });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it still exists: other programs clean temporary directories, too.
    pub(super) fn exists(&self) -> bool {
        self.path.exists()
    }
}

impl Drop for SnapshotFile {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::debug!(%error, "a snapshot could not be removed");
        }
    }
}

/// Removes the files, including drafts, of dead processes. `now` is the time since 1970. Returns how many there
/// were.
pub(super) fn sweep(directory: &Path, now: Duration) -> usize {
    let Ok(dir) = open_private(directory) else {
        return 0;
    };
    let Ok(entries) = Dir::read_from(&dir) else {
        return 0;
    };
    let mut removed = 0;
    let here = namespace();
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().to_str() else {
            continue;
        };
        let Some(owner) = Owner::of_file(name) else {
            continue;
        };
        let gone = if owner.namespace == here {
            owner.is_dead()
        } else {
            is_old(&dir, name, now)
        };
        if gone && fs::unlinkat(&dir, name, AtFlags::empty()).is_ok() {
            removed += 1;
        }
    }
    removed
}

fn is_old(dir: &OwnedFd, name: &str, now: Duration) -> bool {
    fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| {
        let written = Duration::from_secs(u64::try_from(stat.st_mtime).unwrap_or(0));
        now.saturating_sub(written) >= OLD
    })
}

/// A process, told apart from later ones with the same pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Owner {
    namespace: u64,
    pid: i32,
    start: u64,
}

impl Owner {
    fn this_process() -> Self {
        let pid = rustix::process::getpid().as_raw_pid();
        Self {
            namespace: namespace(),
            pid,
            start: ProcessInfo::read(pid).map_or(0, |process| process.start_time),
        }
    }

    fn text(self) -> String {
        format!("{}-{}-{}", self.namespace, self.pid, self.start)
    }

    fn of_file(name: &str) -> Option<Self> {
        let name = name.strip_suffix(DRAFT).unwrap_or(name);
        let mut numbers = name.strip_suffix(SUFFIX)?.split('-');
        let owner = Self {
            namespace: numbers.next()?.parse().ok()?,
            pid: numbers.next()?.parse().ok()?,
            start: numbers.next()?.parse().ok()?,
        };
        let _: u32 = numbers.next()?.parse().ok()?;
        numbers.next().is_none().then_some(owner)
    }

    /// Whether it has certainly ended.
    fn is_dead(self) -> bool {
        match ProcessInfo::read(self.pid) {
            Some(process) => process.zombie || process.start_time != self.start,
            // If `/proc` cannot be read, nothing is certain.
            None => Path::new("/proc/self/stat").exists(),
        }
    }
}

/// The number of this process's pid namespace; 0 if there is none.
fn namespace() -> u64 {
    std::fs::metadata("/proc/self/ns/pid").map_or(0, |metadata| metadata.ino())
}

/// Opens the directory, created if missing: owned by us, mode 0700, not a symbolic link.
fn open_private(directory: &Path) -> io::Result<OwnedFd> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let dir = fs::open(directory, flags, Mode::empty()).map_err(|error| match error {
        Errno::LOOP | Errno::NOTDIR => not_ours("it is a link or no directory"),
        other => other.into(),
    })?;
    let stat = fs::fstat(&dir)?;
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(not_ours("it belongs to another user"));
    }
    if Mode::from_raw_mode(stat.st_mode) != Mode::RWXU {
        fs::fchmod(&dir, Mode::RWXU)?;
    }
    Ok(dir)
}

fn not_ours(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_private_and_goes_when_it_is_dropped() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("a/b");
        let one = SnapshotFile::write(&directory, b"one").unwrap();
        let two = SnapshotFile::write(&directory, b"two").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode(&directory), 0o700);
        assert_eq!(mode(one.path()), 0o600);
        assert_eq!(std::fs::read(one.path()).unwrap(), b"one");
        assert_eq!(std::fs::read(two.path()).unwrap(), b"two");
        assert_eq!(names(&directory).len(), 2, "no draft is left");
        drop(one);
        assert!(two.exists());
        drop(two);
        assert!(names(&directory).is_empty());
    }

    #[test]
    fn a_directory_that_others_can_read_is_closed_and_a_link_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let open = root.path().join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, PermissionsExt::from_mode(0o755)).unwrap();
        let _file = SnapshotFile::write(&open, b"").unwrap();
        let mode = std::fs::metadata(&open).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let link = root.path().join("link");
        std::os::unix::fs::symlink(&open, &link).unwrap();
        let error = SnapshotFile::write(&link, b"").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn what_the_dead_left_is_swept_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let live = SnapshotFile::write(root.path(), b"").unwrap();
        let me = Owner::this_process();
        let dead = Owner {
            start: me.start + 1,
            ..me
        };
        let elsewhere = Owner {
            namespace: me.namespace + 1,
            ..dead
        };
        let strange = "notes.bash".to_owned();
        for name in [
            format!("{}-0.bash", dead.text()),
            format!("{}-1.bash.new", dead.text()),
            format!("{}-0.bash", elsewhere.text()),
            strange.clone(),
        ] {
            std::fs::write(root.path().join(name), "").unwrap();
        }
        let written = std::fs::metadata(live.path()).unwrap().mtime();
        let now = Duration::from_secs(written.unsigned_abs());
        sweep(root.path(), now);
        let live_name = live
            .path()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        let mut left = vec![live_name, format!("{}-0.bash", elsewhere.text()), strange];
        left.sort();
        assert_eq!(names(root.path()), left);
        sweep(root.path(), now + OLD + Duration::from_secs(1));
        left.remove(
            left.iter()
                .position(|name| name.starts_with(&elsewhere.text()))
                .unwrap(),
        );
        assert_eq!(names(root.path()), left);
    }
}
