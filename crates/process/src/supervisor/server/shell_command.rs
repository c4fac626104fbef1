//! Builds the command of a shell from the host's order: its program, arguments and environment, for
//! every way of starting it.

use crate::supervisor::protocol::ShellStart;
use crate::system_error::with_advice;
use rustix::io::FdFlags;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Placeholder in an argument for the script's descriptor number.
pub(super) const SCRIPT_FD: &str = "{script_fd}";

/// Placeholder in an argument for the number of the descriptor that came with the order.
pub(super) const STDIN_FD: &str = "{stdin_fd}";

/// Placeholder in an argument for the path of the report pipe.
pub(super) const REPORT_PLACEHOLDER: &str = "{report}";

/// Placeholder in an argument for the number of the control pipe's descriptor, where that is not
/// stdin.
pub(super) const CONTROL_FD: &str = "{control_fd}";

/// Placeholder in an argument for the number of the socket for the shell's status.
pub(super) const STATUS_FD: &str = "{status_fd}";

/// Placeholder in an argument for the number of the socket for the shell's exports.
pub(super) const EXPORTS_FD: &str = "{exports_fd}";

/// A program with its arguments and environment.
#[derive(Debug)]
pub(super) struct ShellCommand<'a> {
    pub(super) program: &'a Path,
    pub(super) arg0: &'a OsStr,
    pub(super) args: Vec<OsString>,
    /// Changes to the environment of the starting process.
    pub(super) env_changes: &'a [(OsString, Option<OsString>)],
    /// The process group that the shell joins; 0 for its own group.
    pub(super) group: i32,
}

impl<'a> ShellCommand<'a> {
    /// Creates the command for an order; `placeholders` are replaced in its arguments.
    pub(super) fn of(start: &'a ShellStart, placeholders: &[(&str, String)]) -> Self {
        let args = start.args.iter();
        Self {
            program: &start.program,
            arg0: &start.arg0,
            args: args
                .map(|argument| replace_placeholders(argument, placeholders))
                .collect(),
            env_changes: &start.env_changes,
            group: 0,
        }
    }

    /// Returns the argument by which forks of this shell are recognised: the last one.
    pub(super) fn startup_argument(&self) -> Vec<u8> {
        let last = self.args.last();
        last.map_or_else(Vec::new, |argument| argument.as_bytes().to_vec())
    }

    /// Starts the shell as a child and returns its pid. `inherited` descriptors keep their numbers.
    pub(super) fn spawn(&self, standard: [OwnedFd; 3], inherited: &[&OwnedFd]) -> io::Result<i32> {
        self.prepare(standard, inherited)?.spawn()
    }

    /// Prepares the start. The `inherited` descriptors must stay open until the shell is started.
    pub(super) fn prepare(
        &self,
        [stdin, stdout, stderr]: [OwnedFd; 3],
        inherited: &[&OwnedFd],
    ) -> io::Result<PreparedShell> {
        // Safe without a race: no other thread starts processes that could inherit these
        // descriptors.
        for fd in inherited {
            rustix::io::fcntl_setfd(fd, FdFlags::empty())?;
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "this is where shells are started"
        )]
        let mut command = Command::new(self.program);
        command
            .arg0(self.arg0)
            .args(&self.args)
            .stdin(Stdio::from(stdin))
            .stdout(Stdio::from(stdout))
            .stderr(Stdio::from(stderr))
            .process_group(self.group);
        for (name, value) in self.env_changes {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        Ok(PreparedShell(command))
    }
}

/// A shell that is ready to be started.
#[derive(Debug)]
pub(super) struct PreparedShell(Command);

impl PreparedShell {
    /// Starts the shell and returns its pid.
    pub(super) fn spawn(mut self) -> io::Result<i32> {
        let pid = self.0.spawn().map_err(with_advice)?.id();
        i32::try_from(pid).map_err(io::Error::other)
    }
}

fn replace_placeholders(argument: &OsStr, placeholders: &[(&str, String)]) -> OsString {
    let mut bytes = argument.as_bytes().to_vec();
    for (placeholder, value) in placeholders {
        let find = |bytes: &[u8]| {
            bytes
                .windows(placeholder.len())
                .position(|w| w == placeholder.as_bytes())
        };
        while let Some(at) = find(&bytes) {
            bytes.splice(at..at + placeholder.len(), value.bytes());
        }
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_in_arguments_are_replaced() {
        let placeholders = [
            (SCRIPT_FD, "7".to_owned()),
            (REPORT_PLACEHOLDER, "/proc/1/fd/2".to_owned()),
        ];
        let text = replace_placeholders(
            OsStr::new("read -u {script_fd}; exec {script_fd}<&- >{report}"),
            &placeholders,
        );
        assert_eq!(text, "read -u 7; exec 7<&- >/proc/1/fd/2");
    }
}
