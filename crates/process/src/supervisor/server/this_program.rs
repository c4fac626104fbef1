//! Starts this program again: as a supervisor, or as the launcher of a sandbox.

use crate::supervisor::{IN_SESSION_ARGUMENT, PROCESS_NAME, SAME_DIRECTORY_ARGUMENT};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How a program is started as a supervisor.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::supervisor) struct SupervisorProgram {
    pub(in crate::supervisor) path: PathBuf,
    /// True if the path leads to the running program.
    pub(in crate::supervisor) is_this_program: bool,
    /// True to stay in this program's working directory instead of `/`, because the shells could
    /// not enter it by path.
    pub(in crate::supervisor) keep_directory: bool,
    /// True to stay in this program's process session.
    pub(in crate::supervisor) in_session: bool,
}

impl SupervisorProgram {
    /// Returns the command, with `env` as the complete environment.
    pub(in crate::supervisor) fn command(
        &self,
        env: &BTreeMap<OsString, OsString>,
        socket: OwnedFd,
    ) -> Command {
        let same_directory = self.keep_directory.then_some(SAME_DIRECTORY_ARGUMENT);
        let in_session = self.in_session.then_some(IN_SESSION_ARGUMENT);
        #[expect(
            clippy::disallowed_methods,
            reason = "this is where supervisors are started"
        )]
        let mut command = Command::new(&self.path);
        command
            .arg0(PROCESS_NAME)
            .args(same_directory.into_iter().chain(in_session))
            .env_clear()
            .envs(env)
            .stdin(Stdio::from(socket))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }
}

/// Returns a path that starts this program, even if its file was replaced meanwhile.
pub(in crate::supervisor) fn this_program() -> PathBuf {
    let own = Path::new("/proc/self/exe");
    if cfg!(target_os = "linux") && own.exists() {
        return own.to_owned();
    }
    // Without `/proc`, use the name by which this program was started.
    let named = || std::env::args_os().next().map(std::path::absolute);
    std::env::current_exe()
        .ok()
        .or_else(|| named()?.ok())
        .unwrap_or_default()
}
