//! The file of a snapshot: private, written atomically, removed when dropped. A sweep removes the
//! files of dead processes.

use agent_bash_os::{PrivateDir, ProcessIdentity};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Extension of a snapshot's file. The name is `<process>.<number>.bash`, which identifies its
/// owner.
const FILE_SUFFIX: &str = ".bash";

/// Extension of a file that is being written.
const DRAFT_SUFFIX: &str = ".new";

/// The age from which a file is swept if its owner cannot be checked, because the owner is in
/// another PID namespace.
const SWEEP_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Maximum number of file names to try. One process has one snapshot per cache and environment.
const MAX_FILES: u32 = 10_000;

/// The file of a snapshot. Removed when dropped.
#[derive(Debug)]
pub(super) struct SnapshotFile {
    path: PathBuf,
}

impl SnapshotFile {
    /// Writes a file atomically.
    pub(super) fn write(directory: &Path, bytes: &[u8]) -> io::Result<Self> {
        let dir = PrivateDir::create_at(directory)?;
        let owner = ProcessIdentity::current();
        for number in 0..MAX_FILES {
            let name = format!("{owner}.{number}{FILE_SUFFIX}");
            let draft = format!("{name}{DRAFT_SUFFIX}");
            let mut file = match dir.create_new(&draft) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            // Unlike a rename, a link does not replace an existing file.
            let linked = file.write_all(bytes).and_then(|()| dir.link(&draft, &name));
            let _ = dir.remove(&draft);
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

    /// True if the file still exists: other programs may clean temporary directories.
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

/// Removes the files of dead processes, including drafts. `now` is the time since 1970. Returns the
/// number of removed files.
pub(super) fn sweep(directory: &Path, now: Duration) -> usize {
    let Ok(dir) = PrivateDir::create_at(directory) else {
        return 0;
    };
    let names = dir.names().unwrap_or_default();
    let is_stale = |name: &String| {
        owner(name)
            .is_some_and(|owner| owner.is_dead() || (!owner.is_local() && is_old(&dir, name, now)))
    };
    let stale = names.iter().filter(|name| is_stale(name));
    stale.filter(|name| dir.remove(name).is_ok()).count()
}

/// True if the file was written at least [`SWEEP_AGE`] ago.
fn is_old(dir: &PrivateDir, name: &str, now: Duration) -> bool {
    dir.metadata(name).is_ok_and(|stat| {
        let written = Duration::from_secs(u64::try_from(stat.mtime()).unwrap_or(0));
        now.saturating_sub(written) >= SWEEP_AGE
    })
}

/// Returns the process that owns a file, which the file's name contains.
fn owner(name: &str) -> Option<ProcessIdentity> {
    let name = name.strip_suffix(DRAFT_SUFFIX).unwrap_or(name);
    let (owner, number) = name.strip_suffix(FILE_SUFFIX)?.rsplit_once('.')?;
    let _: u32 = number.parse().ok()?;
    owner.parse().ok()
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
    fn file_is_private_and_is_removed_on_drop() {
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
    fn write_makes_the_directory_private_and_refuses_a_symlink() {
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
    fn sweep_removes_only_files_of_dead_processes() {
        let root = tempfile::tempdir().unwrap();
        let live = SnapshotFile::write(root.path(), b"").unwrap();
        let own = ProcessIdentity::current();
        let mut dead = own.clone();
        dead.start_time += 1;
        let mut elsewhere = dead.clone();
        elsewhere.namespace += 1;
        let foreign = "notes.bash".to_owned();
        for name in [
            format!("{dead}.0.bash"),
            format!("{dead}.1.bash.new"),
            format!("{elsewhere}.0.bash"),
            foreign.clone(),
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
        let mut remaining = vec![live_name, format!("{elsewhere}.0.bash"), foreign];
        remaining.sort();
        assert_eq!(names(root.path()), remaining);
        sweep(root.path(), now + SWEEP_AGE + Duration::from_secs(1));
        remaining.remove(
            remaining
                .iter()
                .position(|name| name.starts_with(&elsewhere.to_string()))
                .unwrap(),
        );
        assert_eq!(names(root.path()), remaining);
    }
}
