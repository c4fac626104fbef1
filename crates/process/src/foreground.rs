//! Runs a program of the user's, such as an editor, in the foreground of this process's terminal.

use crate::transport::TransportProcess;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::Command;

/// Runs the command in `$1` with the file `$2` in a foreground process group (`-m`), so that its
/// interrupts do not reach this process. The user could not continue a stopped editor, so the loop
/// does.
const FOREGROUND_SCRIPT: &str = r#"eval "$1 \"\$2\""; code=$?
while jobs %% >/dev/null 2>&1; do fg %% >/dev/null; code=$?; done
exit "$code""#;

/// Starts `bash`, which runs `command` (shell words) with `file` as its last argument on this
/// process's terminal. Until the command ends, the caller must not use the terminal.
///
/// # Errors
/// The command cannot be started.
pub fn in_foreground(
    bash: &Path,
    command: &OsStr,
    file: &Path,
    env: &BTreeMap<OsString, OsString>,
    directory: &Path,
) -> io::Result<TransportProcess> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where the user's programs are started"
    )]
    let mut shell = Command::new(bash);
    let child = shell
        .args([
            "--norc", "--noprofile", "-m", "-c", FOREGROUND_SCRIPT, "agent-bash",
        ])
        .arg(command)
        .arg(file)
        .env_clear()
        .envs(env)
        .current_dir(directory)
        .spawn()?;
    Ok(TransportProcess::of(child))
}
