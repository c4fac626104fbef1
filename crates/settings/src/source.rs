//! Decides which settings files are trusted, and reads regular files of bounded size only.
//!
//! A project's file in a parent directory applies to every user who works below that directory. The
//! file is therefore used only if it belongs to the user (or root) and no other user may write to
//! it. A file in a world-writable working directory, such as `/tmp`, must meet the same conditions.

use rustix::fs::{Mode, OFlags};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// Maximum size of a settings file.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Write permission for group or others.
const OTHERS_WRITE: u32 = 0o022;

/// Write permission for all users.
const WORLD_WRITE: u32 = 0o002;

/// The result of looking for a file.
#[derive(Debug)]
pub(super) enum FileLookup {
    /// There is no file, as far as this user can see.
    Nothing,
    /// The file is ignored for this reason.
    Ignored(&'static str),
    /// The file's text.
    Text(String),
}

/// Reads the user's settings file.
pub(super) fn user_file(path: &Path) -> io::Result<FileLookup> {
    match fs::metadata(path) {
        Err(error) if is_out_of_reach(&error) => Ok(FileLookup::Nothing),
        Err(error) => Err(error),
        Ok(_) => read(path).map(FileLookup::Text),
    }
}

/// Reads the project's settings file in `directory`. `is_parent` is true if the directory is a
/// parent of the working directory.
pub(super) fn project(directory: &Path, name: &str, is_parent: bool) -> io::Result<FileLookup> {
    let path = directory.join(name);
    let link = match fs::symlink_metadata(&path) {
        Err(error) if is_out_of_reach(&error) => return Ok(FileLookup::Nothing),
        found => found?,
    };
    let is_world_writable = || {
        let may_write = |metadata: Metadata| metadata.mode() & WORLD_WRITE != 0;
        fs::metadata(directory).is_ok_and(may_write)
    };
    if is_parent || is_world_writable() {
        // `fs::metadata` fails for a dangling symbolic link; then only the link is checked.
        let reason = distrust_reason(&link).or_else(|| distrust_reason(&fs::metadata(&path).ok()?));
        if let Some(reason) = reason {
            return Ok(FileLookup::Ignored(reason));
        }
    }
    match fs::metadata(&path) {
        Err(error) if is_out_of_reach(&error) => Ok(FileLookup::Nothing),
        Err(error) => Err(error),
        Ok(_) => read(&path).map(FileLookup::Text),
    }
}

/// Returns why another user may have written the file.
fn distrust_reason(metadata: &Metadata) -> Option<&'static str> {
    let own_uid = rustix::process::geteuid().as_raw();
    if metadata.uid() != own_uid && metadata.uid() != 0 {
        return Some("it belongs to another user");
    }
    // The mode of a symbolic link has no effect.
    (!metadata.is_symlink() && metadata.mode() & OTHERS_WRITE != 0)
        .then_some("other users may write to it (run `chmod go-w` on it)")
}

/// Returns the file's text. Opens the file with `O_NONBLOCK`, because opening a FIFO would
/// otherwise block until its other end is open.
fn read(path: &Path) -> io::Result<String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file: File = rustix::fs::open(path, flags, Mode::empty())?.into();
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        let reason = format!("it is {}, not a regular file", file_kind(&metadata));
        return Err(io::Error::other(reason));
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(io::Error::other("it is longer than 1 MB"));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
}

fn file_kind(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    if kind.is_dir() {
        "a directory"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

/// True if the file does not exist, or is in a directory that this user may not search, such as
/// another user's home.
fn is_out_of_reach(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_process::make_fifo;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::path::PathBuf;

    type Make<'a> = &'a dyn Fn(&Path);

    const FILE_NAME: &str = "settings.toml";

    fn directory(mode: u32) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), PermissionsExt::from_mode(mode)).unwrap();
        let path = dir.path().join(FILE_NAME);
        (dir, path)
    }

    fn file(path: &Path, mode: u32) {
        fs::write(path, "text").unwrap();
        fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }

    #[test]
    fn only_regular_files_of_a_bounded_size_are_read() {
        let long = |path: &Path| {
            let file = File::create(path).unwrap();
            file.set_len(1 << 40).unwrap();
        };
        let cases: [(Make<'_>, &str); 6] = [
            (&|path| symlink("/dev/zero", path).unwrap(), "a device"),
            (&|path| make_fifo(path).unwrap(), "a FIFO"),
            (&|path| fs::create_dir(path).unwrap(), "a directory"),
            (&long, "longer than 1 MB"),
            (&|path| fs::write(path, [0xff]).unwrap(), "not UTF-8"),
            (&|path| symlink(path, path).unwrap(), "symbolic links"),
        ];
        for (make, wanted) in cases {
            let (dir, path) = directory(0o700);
            make(&path);
            for found in [user_file(&path), project(dir.path(), FILE_NAME, false)] {
                let error = found.unwrap_err().to_string();
                assert!(error.contains(wanted), "{error}");
            }
        }
    }

    #[test]
    fn project_ignores_files_that_other_users_may_write() {
        for (directory_mode, mode, is_parent, is_used) in [
            (0o755, 0o644, true, true),
            (0o755, 0o664, true, false),
            (0o755, 0o646, true, false),
            (0o1777, 0o644, true, true),
            (0o755, 0o664, false, true),
            (0o1777, 0o664, false, false),
            (0o1777, 0o644, false, true),
        ] {
            let (dir, path) = directory(directory_mode);
            file(&path, mode);
            let found = project(dir.path(), FILE_NAME, is_parent).unwrap();
            let is_text = matches!(&found, FileLookup::Text(text) if text == "text");
            assert_eq!(
                is_text, is_used,
                "{directory_mode:o} {mode:o} {is_parent}: {found:?}"
            );
        }
    }

    /// Skipped without root: only root can change a file's owner.
    #[test]
    fn project_ignores_files_of_other_users() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let (dir, path) = directory(0o1777);
        file(&path, 0o644);
        chown(&path, Some(65534), None).unwrap();
        for is_parent in [true, false] {
            let found = project(dir.path(), FILE_NAME, is_parent).unwrap();
            assert!(matches!(found, FileLookup::Ignored(_)), "{found:?}");
        }
        // A link of another user is ignored, even if it leads to a file of this user.
        let (other, link) = directory(0o1777);
        chown(&path, Some(0), None).unwrap();
        symlink(&path, &link).unwrap();
        std::os::unix::fs::lchown(&link, Some(65534), None).unwrap();
        let found = project(other.path(), FILE_NAME, true).unwrap();
        assert!(matches!(found, FileLookup::Ignored(_)), "{found:?}");
    }

    #[test]
    fn missing_files_are_not_errors() {
        let (dir, path) = directory(0o700);
        for found in [
            user_file(&path),
            user_file(&path.join("below")),
            project(dir.path(), FILE_NAME, true),
            project(&path, FILE_NAME, false),
        ] {
            assert!(matches!(found, Ok(FileLookup::Nothing)), "{found:?}");
        }
    }
}
