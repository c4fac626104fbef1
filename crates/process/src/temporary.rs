//! Chooses the parent of temporary directories: `$TMPDIR`, or `/tmp` if `$TMPDIR` cannot be used.

use agent_bash_core::sandbox::Plan;
use agent_bash_sandbox::leads_out;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The temporary directory that all users of a system share.
pub(crate) const SHARED_DIRECTORY: &str = "/tmp";

/// Mode bit `S_ISVTX`: only the owner of a file may replace it in this directory.
const STICKY_BIT: u32 = 0o1000;

/// Mode bits that let the group and others write.
const OTHERS_WRITE_BITS: u32 = 0o022;

/// The error if a private directory can be created neither in `$TMPDIR` nor in `/tmp`.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot create a private temporary directory below {below}: {error}; set TMPDIR to a directory that exists and can be written",
    below = describe_parent(.tmpdir)
)]
pub struct NoTemporaryDirectory {
    tmpdir: PathBuf,
    error: io::Error,
}

fn describe_parent(tmpdir: &Path) -> String {
    if tmpdir == Path::new(SHARED_DIRECTORY) {
        return SHARED_DIRECTORY.to_owned();
    }
    format!("$TMPDIR ({})", tmpdir.display())
}

/// Calls `make` with `tmpdir` (`$TMPDIR`) and, if that fails, with `/tmp`, if other users cannot
/// replace files there. Returns the first success.
///
/// # Errors
/// `make` fails for both directories; its error for `tmpdir` is returned.
pub fn make_temporary<T>(
    tmpdir: &Path,
    make: impl Fn(&Path) -> io::Result<T>,
) -> Result<T, NoTemporaryDirectory> {
    let error = match make(tmpdir) {
        Ok(entry) => return Ok(entry),
        Err(error) => error,
    };
    tracing::debug!(%error, tmpdir = %tmpdir.display(), "no temporary directory in $TMPDIR");
    let fallback = fallback(tmpdir).and_then(|shared| make(shared).ok());
    fallback.ok_or_else(|| NoTemporaryDirectory {
        tmpdir: tmpdir.to_owned(),
        error,
    })
}

/// Returns the canonical path of a directory in which the files of a shell with this sandbox plan
/// may be created.
///
/// # Errors
/// The sandbox mounts another directory there, the path passes through a link that an earlier call
/// may have created, or calls may replace the files there and have no shared `/tmp`.
pub fn parent_for_plan(parent: &Path, plan: &Plan) -> io::Result<PathBuf> {
    let target = fs::canonicalize(parent)?;
    let is_writable = |path: &Path| plan.writable.iter().any(|it| path.starts_with(it));
    if is_writable(&target) && !fs::canonicalize(SHARED_DIRECTORY).is_ok_and(|it| is_writable(&it))
    {
        return Err(io::Error::other("sandboxed calls may write there"));
    }
    if plan.covers(&target) {
        return Err(io::Error::other("the sandbox has another directory there"));
    }
    if target != parent && leads_out(parent, &plan.writable)? {
        let reason = "sandboxed calls may replace a symbolic link on the way";
        return Err(io::Error::other(reason));
    }
    Ok(target)
}

/// Returns the directories that [`make_temporary`] tries.
pub(crate) fn temporary_parents(tmpdir: &Path) -> impl Iterator<Item = &Path> {
    [tmpdir].into_iter().chain(fallback(tmpdir))
}

/// Returns `/tmp`, if that differs from `tmpdir`, and other users cannot replace files there.
fn fallback(tmpdir: &Path) -> Option<&'static Path> {
    let shared = Path::new(SHARED_DIRECTORY);
    (tmpdir != shared && is_private(shared)).then_some(shared)
}

/// True if only this user and root can replace this user's files in a directory.
fn is_private(directory: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    fs::metadata(directory).is_ok_and(|found| {
        let is_trusted = found.uid() == 0 || found.uid() == user;
        let is_closed = found.mode() & OTHERS_WRITE_BITS == 0 || found.mode() & STICKY_BIT != 0;
        found.is_dir() && is_trusted && is_closed
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::sandbox::{Tier, WriteLevel};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn make_temporary_falls_back_to_shared_directory_once() {
        let tried = std::cell::RefCell::new(Vec::new());
        let make = |parent: &Path| {
            tried.borrow_mut().push(parent.to_owned());
            fs::metadata(parent).map(|_| parent.to_owned())
        };
        let missing = Path::new("/no/such/directory");
        let parent = make_temporary(missing, make).unwrap();
        assert_eq!(parent, Path::new(SHARED_DIRECTORY));
        assert_eq!(*tried.borrow(), [missing, Path::new(SHARED_DIRECTORY)]);
    }

    #[test]
    fn parent_for_plan_refuses_what_calls_can_replace() {
        let temp = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temp.path()).unwrap();
        for directory in ["workspace/inner", "outside"] {
            fs::create_dir_all(base.join(directory)).unwrap();
        }
        for (link, target) in [("out", "../outside"), ("in", "inner")] {
            std::os::unix::fs::symlink(target, base.join("workspace").join(link)).unwrap();
        }
        std::os::unix::fs::symlink("outside", base.join("link")).unwrap();
        let mut plan = Plan {
            writable: vec![base.join("workspace")],
            ..Plan::new(WriteLevel::WorkspaceWrite, Tier::Full)
        };
        for (path, target) in [
            ("workspace/out", None),
            ("workspace/in", None),
            ("workspace/inner", None),
            ("link", Some("outside")),
        ] {
            let found = parent_for_plan(&base.join(path), &plan).ok();
            assert_eq!(found, target.map(|it| base.join(it)), "{path}");
        }
        // With a shared `/tmp`, every parent may be written.
        let shared = fs::canonicalize(SHARED_DIRECTORY).unwrap();
        plan.writable.push(shared);
        let inner = base.join("workspace/inner");
        assert_eq!(parent_for_plan(&inner, &plan).ok(), Some(inner));
    }

    #[test]
    fn error_names_variable_value_and_reason() {
        let refuse = |_: &Path| Err::<(), _>(io::Error::from(io::ErrorKind::NotFound));
        let error = make_temporary(Path::new("/nope"), refuse).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("$TMPDIR (/nope): entity not found"), "{text}");
        let text = make_temporary(Path::new(SHARED_DIRECTORY), refuse)
            .unwrap_err()
            .to_string();
        assert!(text.contains("below /tmp: "), "{text}");
    }

    #[test]
    fn is_private_is_false_if_others_can_replace_files() {
        let temp = tempfile::tempdir().unwrap();
        for (mode, expected) in [
            (0o700, true),
            (0o777, false),
            (0o1777, true),
            (0o770, false),
        ] {
            fs::set_permissions(temp.path(), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(is_private(temp.path()), expected, "{mode:o}");
        }
        assert!(!is_private(Path::new("/no/such/directory")));
    }
}
