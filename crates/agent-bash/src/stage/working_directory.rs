//! The working directory of a call: makes the requested path absolute, and checks that the path is
//! a directory. Does not change the file system.

use crate::tool_context::ToolContext;
use crate::{HostContext, run_blocking};
use agent_bash_core::{Cancel, Mode, Request};
use agent_bash_process::{is_known_directory, is_reachable_from_cwd};
use agent_bash_tools::{DirectoryError, Refusal};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// Returns the directory that a call requests; without a request, the conversation's directory.
/// Relative paths start from the conversation's directory, and `~` is the user's home directory.
/// The components `.` and `..` are resolved lexically, as `cd` does.
pub(crate) fn resolve(host: &HostContext, requested: Option<&str>) -> PathBuf {
    let Some(requested) = requested.filter(|path| !path.is_empty()) else {
        return host.cwd.clone();
    };
    let path = match (requested.strip_prefix('~'), &host.home) {
        (Some(""), Some(home)) => home.clone(),
        (Some(rest), Some(home)) if rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => host.cwd.join(requested),
    };
    without_dots(&path)
}

/// Resolves `.` and `..` lexically: `/a/b/../c/.` is `/a/c`.
fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            // The parent of `/` is `/`.
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

/// True if the call needs a working directory. False for a call without `cwd` in a persistent
/// shell, which has a working directory already.
pub(crate) fn is_wanted(request: &Request) -> bool {
    request.session.is_none() || request.cwd.is_some() || request.mode == Some(Mode::Background)
}

/// Refuses a path that is not a directory, or whose file system does not respond within the call's
/// time limit.
pub(crate) async fn check(
    tool: &ToolContext,
    path: &Path,
    limit: Duration,
    cancel: &Cancel,
) -> Result<(), Refusal> {
    // The common case is a path in the kernel's cache. This check needs no thread and no timer.
    if is_known_directory(path) {
        return Ok(());
    }
    let checked_path = path.to_path_buf();
    let check = run_blocking(move || check_directory(&checked_path));
    let result = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(Refusal::Cancelled),
        result = check => result,
        () = tool.clock.sleep(limit.min(FILE_SYSTEM_TIMEOUT)) => {
            return Err(DirectoryError::Unreadable {
                path: path.to_path_buf(),
                reason: "its file system does not answer".to_owned(),
            }
            .into());
        }
    };
    // If no thread could be started, the path is not checked, and the shell reports a wrong path.
    result.unwrap_or(Ok(())).map_err(Refusal::from)
}

/// Maximum time to wait for the response of a file system.
const FILE_SYSTEM_TIMEOUT: Duration = Duration::from_secs(5);

/// Checks the path with `stat`. Blocks.
fn check_directory(path: &Path) -> Result<(), DirectoryError> {
    let path_buf = || path.to_path_buf();
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(DirectoryError::NotADirectory(path_buf())),
        Err(error) if is_barred(&error) && is_reachable_from_cwd(path) => Ok(()),
        Err(error) => Err(match error.kind() {
            // ENOTDIR: a component of the path is a file, so the path does not exist.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                DirectoryError::Missing(path_buf())
            }
            _ => DirectoryError::Unreadable {
                path: path_buf(),
                reason: error.to_string(),
            },
        }),
    }
}

/// True if this process has no permission to search a directory of the path.
fn is_barred(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolve_makes_paths_absolute_like_cd() {
        let host = HostContext {
            home: Some("/home/u".into()),
            ..HostContext::bare("/src")
        };
        for (requested, want) in [
            (None, "/src"),
            (Some(""), "/src"),
            (Some("."), "/src"),
            (Some("src"), "/src/src"),
            (Some("./src/../lib/"), "/src/lib"),
            (Some("../../.."), "/"),
            (Some("/etc"), "/etc"),
            (Some("~"), "/home/u"),
            (Some("~/x"), "/home/u/x"),
            (Some("~//x"), "/home/u/x"),
            (Some("~other"), "/src/~other"),
        ] {
            assert_eq!(resolve(&host, requested), Path::new(want), "{requested:?}");
        }
    }

    #[test]
    fn check_directory_refuses_files_and_missing_paths() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert_eq!(check_directory(dir.path()), Ok(()));
        let missing = dir.path().join("missing");
        assert_eq!(
            check_directory(&missing).unwrap_err().to_string(),
            format!("Working directory does not exist: {}", missing.display())
        );
        assert_eq!(
            check_directory(&file).unwrap_err().to_string(),
            format!("Working directory is not a directory: {}", file.display())
        );
        assert_eq!(
            check_directory(&file.join("below")),
            Err(DirectoryError::Missing(file.join("below")))
        );
    }
}
