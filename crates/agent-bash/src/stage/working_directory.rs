//! The directory of a call: makes the requested path absolute and checks that it is a directory.
//! Changes nothing.

use crate::refusal::{DirectoryError, Refusal};
use crate::tool_context::ToolContext;
use crate::{HostContext, run_blocking};
use agent_bash_core::{Cancel, Mode, Request};
use agent_bash_process::{is_known_directory, is_reached_from_here};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// The directory that a call names: relative to the session's, `~` is the user's home, `.` and `..`
/// are resolved lexically, as `cd` does.
pub(crate) fn resolve(host: &HostContext, asked: Option<&str>) -> PathBuf {
    let Some(asked) = asked.filter(|asked| !asked.is_empty()) else {
        return host.cwd.clone();
    };
    let path = match (asked.strip_prefix('~'), &host.home) {
        (Some(""), Some(home)) => home.clone(),
        (Some(rest), Some(home)) if rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => host.cwd.join(asked),
    };
    without_dots(&path)
}

/// `/a/b/../c/.` is `/a/c`.
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

/// True if the call runs in its own or the session's directory, as opposed to a persistent shell,
/// which has a directory already.
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
    // The common case: needs no thread and no timer.
    if is_known_directory(path) {
        return Ok(());
    }
    let looked_at = path.to_path_buf();
    let look = run_blocking(move || look(&looked_at));
    let found = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(Refusal::Cancelled),
        found = look => found,
        () = tool.clock.sleep(limit.min(FILE_SYSTEM_TIMEOUT)) => {
            return Err(DirectoryError::Unreadable {
                path: path.to_path_buf(),
                reason: "its file system does not answer".to_owned(),
            }
            .into());
        }
    };
    // If no thread could be started to look, the shell will report the problem.
    found.unwrap_or(Ok(())).map_err(Refusal::from)
}

/// Maximum wait for a file system.
const FILE_SYSTEM_TIMEOUT: Duration = Duration::from_secs(5);

fn look(path: &Path) -> Result<(), DirectoryError> {
    let path_buf = || path.to_path_buf();
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(DirectoryError::NotADirectory(path_buf())),
        Err(error) if is_barred(&error) && is_reached_from_here(path) => Ok(()),
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

/// A directory on the way may not be searched.
fn is_barred(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_absolute_as_cd_would_take_it() {
        let host = HostContext {
            home: Some("/home/u".into()),
            ..HostContext::for_tests("/src")
        };
        for (asked, want) in [
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
            assert_eq!(resolve(&host, asked), Path::new(want), "{asked:?}");
        }
    }

    #[test]
    fn only_directories_pass() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert_eq!(look(dir.path()), Ok(()));
        let missing = dir.path().join("missing");
        assert_eq!(
            look(&missing).unwrap_err().to_string(),
            format!("Working directory does not exist: {}", missing.display())
        );
        assert_eq!(
            look(&file).unwrap_err().to_string(),
            format!("Working directory is not a directory: {}", file.display())
        );
        assert_eq!(
            look(&file.join("below")),
            Err(DirectoryError::Missing(file.join("below")))
        );
    }
}
