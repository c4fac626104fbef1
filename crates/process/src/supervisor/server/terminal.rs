//! Starts a shell on a terminal.
//!
//! The supervisor already leads the session, so it opens the terminal, which thereby becomes the session's
//! controlling terminal, and puts the shell's process group in the foreground. The shell does not lead the session
//! itself: when a session leader ends, the kernel hangs up the terminal, and background processes would die with
//! the shell, unlike without a terminal.
//!
//! What is *not* here: creating and reading terminals (`agent-bash-pty`).

use super::launch::{SCRIPT_FD, filled_in};
use super::limits;
use crate::platform::pipe;
use crate::supervisor::protocol::TerminalStart;
use agent_bash_core::Survivor;
use rustix::fs::{Mode, OFlags};
use rustix::io::FdFlags;
use rustix::process::{Pid, Signal, WaitStatus};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Placeholder in an argument for the control pipe's descriptor number.
const CONTROL_FD: &str = "{control_fd}";

/// The terminal that a shell is on.
#[derive(Debug)]
pub(super) struct Terminal {
    path: PathBuf,
}

/// A shell started on a terminal.
#[derive(Debug)]
pub(super) struct OnTerminal {
    pub(super) pid: i32,
    pub(super) script_fd: i32,
    pub(super) boot: Vec<u8>,
    pub(super) terminal: Terminal,
}

impl Terminal {
    /// Determines for each survivor whether it can still write to the terminal.
    pub(super) fn mark_holders(&self, survivors: &mut [Survivor]) {
        for survivor in survivors {
            survivor.holds_output = holds(survivor.pid, &self.path);
        }
    }
}

/// Whether a process has the terminal open, by its path or as `/dev/tty`. False if we may not look.
fn holds(pid: u32, terminal: &Path) -> bool {
    let entries = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten();
    entries
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .any(|target| target == terminal || target == Path::new("/dev/tty"))
}

/// Starts the shell, puts it in the foreground, and lets it begin.
pub(super) fn launch(start: &TerminalStart, script: &OwnedFd) -> io::Result<OnTerminal> {
    // Inherited on purpose; everything else is close-on-exec. Opened first to keep their numbers low: a shell other than bash
    // may only know descriptors of one digit.
    let (control_read, control) = pipe()?;
    for inherited in [script, &control_read] {
        rustix::io::fcntl_setfd(inherited, FdFlags::empty())?;
    }
    // The first terminal opened by a session leader without one becomes the controlling terminal.
    let terminal = rustix::fs::open(
        &start.terminal,
        OFlags::RDWR | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let places = [
        (SCRIPT_FD, script.as_raw_fd().to_string()),
        (CONTROL_FD, control_read.as_raw_fd().to_string()),
    ];
    let shell = &start.start;
    let args: Vec<OsString> = shell
        .args
        .iter()
        .map(|argument| filled_in(argument, &places))
        .collect();
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where shells on terminals are started"
    )]
    let mut command = Command::new(&shell.program);
    command
        .arg0(&shell.arg0)
        .args(&args)
        .stdin(Stdio::from(terminal.try_clone()?))
        .stdout(Stdio::from(terminal.try_clone()?))
        .stderr(Stdio::from(terminal.try_clone()?))
        .process_group(0);
    for (name, value) in &shell.env_changes {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let child = command.spawn()?;
    let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
    limits::apply(pid, &shell.limits)?;
    // Until told to begin, the shell reads its control pipe rather than the terminal, so it cannot get SIGTTIN
    // before this.
    rustix::termios::tcsetpgrp(&terminal, Pid::from_child(&child))?;
    // If the shell has already ended it is reaped like any other.
    let _ = File::from(control).write_all(start.commit.as_bytes());
    Ok(OnTerminal {
        pid,
        script_fd: script.as_raw_fd(),
        boot: args
            .last()
            .map(|argument| argument.as_bytes().to_vec())
            .unwrap_or_default(),
        terminal: Terminal {
            path: start.terminal.clone(),
        },
    })
}

/// A child was stopped. If by Ctrl-Z or a program's own "suspend", it is continued at once, as nobody could do that
/// later (in an orphaned process group the kernel ignores such stops, too). A stop by any other signal is left
/// alone: it was intended.
pub(super) fn go_on(pid: Pid, status: WaitStatus) {
    if status.stopping_signal() != Some(Signal::TSTP.as_raw()) {
        return;
    }
    // It has not been reaped, so its pid and process group are its own.
    if let Ok(group) = rustix::process::getpgid(Some(pid)) {
        let _ = rustix::process::kill_process_group(group, Signal::CONT);
    }
}
