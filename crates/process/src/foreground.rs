//! A program of the person's own in the foreground of our terminal, such as an editor.

use crate::transport::TransportProcess;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::Command;

/// Runs the command in `$1` with the file `$2` in a foreground process group (`-m`), so that its
/// interrupts do not reach this process. A stopped editor could not be continued by the user, so it
/// is continued here.
const IN_FRONT: &str = r#"eval "$1 \"\$2\""; code=$?
while jobs %% >/dev/null 2>&1; do fg %% >/dev/null; code=$?; done
exit "$code""#;

/// Starts `command` (words for a shell) with a file as its last argument on our terminal, which
/// nothing else may use until it has ended. `bash` runs it.
///
/// # Errors
/// It cannot be started.
pub fn in_foreground(
    bash: &Path,
    command: &OsStr,
    file: &Path,
    env: &BTreeMap<OsString, OsString>,
    directory: &Path,
) -> io::Result<TransportProcess> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where a person's own programs are started"
    )]
    let mut shell = Command::new(bash);
    let child = shell
        .args(["--norc", "--noprofile", "-m", "-c", IN_FRONT, "agent-bash"])
        .arg(command)
        .arg(file)
        .env_clear()
        .envs(env)
        .current_dir(directory)
        .spawn()?;
    Ok(TransportProcess::of(child))
}
