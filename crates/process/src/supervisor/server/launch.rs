//! Starts a shell: its pipes and its script file, or below the supervisor's terminal.
//!
//! On a terminal, the supervisor already leads the process session, so it opens the terminal, which
//! thereby becomes the controlling terminal, and puts the shell's process group in the foreground.
//! The shell does not lead the session itself: when a session leader ends, the kernel hangs up the
//! terminal, and background processes would die with the shell, unlike without a terminal.
//!
//! Not here: creating and reading terminals (`agent-bash-pty`).

use super::report::ReportPipe;
use super::sandboxed_start::{NotLaunched, SandboxedStart};
use super::shell::{Shell, ShellPhase};
use super::shell_command::{
    CONTROL_FD, EXPORTS_FD, REPORT_PLACEHOLDER, SCRIPT_FD, STATUS_FD, ShellCommand,
};
use super::terminal::Terminal;
use super::trace::{self, Before, Tracer};
use super::{leader, limits};
use crate::platform::{pipe, unnamed_file};
use crate::report_socket::report_sockets;
use crate::supervisor::protocol::{Event, ShellStart, TerminalStart};
use crate::supervisor::shell_directory::ShellDirectory;
use agent_bash_core::StreamId;
use agent_bash_sandbox::{SandboxError, WatchScope};
use rustix::fs::{Mode, OFlags};
use rustix::process::Pid;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};

/// The way to start a shell.
#[derive(Debug)]
pub(super) enum ShellStarter {
    /// Starts the shell as a child in its own process group, with the environment of this process,
    /// which is a supervisor.
    Child,
    /// Starts the shell as the leader of its own session, from a host that has threads, descriptors
    /// and signals of its own.
    Leader {
        /// The complete environment.
        env: BTreeMap<OsString, OsString>,
    },
}

/// A started shell, and what the host gets of it.
#[derive(Debug)]
pub(super) struct LaunchedShell {
    pub(super) shell: Shell,
    pub(super) event: Event,
    /// Script file, control pipe, streams: in the order in which they are sent.
    pub(super) host_ends: Vec<OwnedFd>,
}

/// Starts a shell. `stdin` is that of the script; the shell itself reads its control pipe.
/// `network` is the way into the one that its box shares.
pub(super) fn launch(
    start: &ShellStart,
    stdin: Option<&OwnedFd>,
    network: Option<&OwnedFd>,
    starter: &ShellStarter,
    before: Before,
) -> Result<LaunchedShell, NotLaunched> {
    let reason = match starter {
        ShellStarter::Leader { .. } if start.is_watched() => {
            "it takes a supervisor of its own".into()
        }
        _ => match launch_one(start, stdin, network, starter, Some(before)) {
            Err(NotLaunched::Box(SandboxError::Unwatched(reason))) => reason,
            other => return other,
        },
    };
    let launched = launch_one(&start.unwatched(), stdin, network, starter, None)?;
    Ok(launched.unwatched(reason))
}

impl LaunchedShell {
    /// Marks the shell as untraced, with the reason.
    fn unwatched(mut self, reason: String) -> Self {
        if let Event::Started { unwatched, .. } = &mut self.event {
            *unwatched = Some(reason);
        }
        self
    }
}

/// `before`: `None` for a shell that is not traced.
fn launch_one(
    start: &ShellStart,
    stdin: Option<&OwnedFd>,
    network: Option<&OwnedFd>,
    starter: &ShellStarter,
    before: Option<Before>,
) -> Result<LaunchedShell, NotLaunched> {
    let script = unnamed_file("agent-bash-script")?;
    let (control_read, control) = pipe()?;
    let (output, captured) = capture(&start.output)?;
    let [stdout, stderr] = captured.map(|stream| stream.map_or_else(|| null(OFlags::WRONLY), Ok));
    let (stdout, stderr) = (stdout?, stderr?);
    let pipes = output.iter().filter_map(inode_of).collect();
    let mut reports = Vec::new();
    let mut reported = Vec::new();
    if start.reports {
        for place in [STATUS_FD, EXPORTS_FD] {
            let (host, shell) = report_sockets()?;
            reports.push(host);
            reported.push((place, shell));
        }
    }
    let inherited = [&script].into_iter().chain(stdin);
    let inherited: Vec<&OwnedFd> = inherited
        .chain(reported.iter().map(|(_, socket)| socket))
        .collect();
    let numbers: Vec<i32> = inherited.iter().map(|fd| fd.as_raw_fd()).collect();
    let confined = SandboxedStart::prepare(start, &numbers, network)?;
    let apart = start
        .private_mounts_at()
        .map(|wanted| ShellDirectory::make(wanted, None))
        .transpose()?;
    let fifo = confined.as_ref().map(SandboxedStart::report);
    let report = ReportPipe::of(fifo.or_else(|| apart.as_ref().map(ShellDirectory::report)))?;
    let script_fd = script.as_raw_fd();
    let mut places = vec![
        (SCRIPT_FD, script_fd.to_string()),
        (REPORT_PLACEHOLDER, report.path()),
    ];
    let numbers = reported.iter();
    places.extend(numbers.map(|(place, socket)| (*place, socket.as_raw_fd().to_string())));
    let shell = ShellCommand::of(start, &places);
    let command = match &confined {
        Some(confined) => confined.command(shell),
        None => shell,
    };
    let standard = [control_read, stdout, stderr];
    let (pid, tracer) = match starter {
        ShellStarter::Child => {
            // A sandboxed shell is traced by its launcher.
            let scope = scope(start).filter(|_| confined.is_none());
            let watched = before.zip(scope);
            spawn(&command, standard, &inherited, watched)?
        }
        ShellStarter::Leader { .. } if confined.is_some() => {
            let what = "a supervisor of its own";
            return Err(
                match start.sandbox.as_ref().and_then(|kept| kept.trial.as_ref()) {
                    Some(_) => SandboxError::NoTrial(format!("it needs {what}")),
                    None => SandboxError::lacks(what),
                }
                .into(),
            );
        }
        ShellStarter::Leader { env } => {
            let pid = leader::start(&command, env, &standard, &inherited)?;
            (pid, None)
        }
    };
    let boot = command.boot();
    let closed = confined.map(|confined| confined.closed(pid)).transpose()?;
    let closed = closed.unwrap_or_default();
    let (in_box, unwatched) = split(closed.watched);
    let tracer = tracer.or(in_box);
    limits::apply(pid, &start.limits)?;
    Ok(LaunchedShell {
        shell: Shell {
            pid,
            pipes,
            boot,
            report,
            shares_directory: closed.sandbox.is_some() || apart.is_some(),
            directory: closed.directory.or(apart),
            mounts: closed.mounts,
            view: None,
            tracer,
            terminal: None,
            phase: ShellPhase::Running,
        },
        event: Event::Started {
            pid: pid.unsigned_abs(),
            script_fd,
            stdin_fd: stdin.map(AsRawFd::as_raw_fd),
            sandbox: closed.sandbox,
            held_back: closed.held_back,
            unwatched,
        },
        host_ends: [script, control]
            .into_iter()
            .chain(reports)
            .chain(output)
            .collect(),
    })
}

/// The traced system calls of a shell without a launcher. In a shell that waits for a trial these
/// are the ones for sockets.
fn scope(start: &ShellStart) -> Option<WatchScope> {
    if start.is_watched() {
        return Some(WatchScope::Changes);
    }
    let private = start.private_mounts_at();
    private.map(|_| WatchScope::Sockets)
}

/// Starts it as a child, watched or not. Its pid, and by what it is watched.
pub(super) fn spawn(
    command: &ShellCommand<'_>,
    standard: [OwnedFd; 3],
    inherited: &[&OwnedFd],
    watched: Option<(Before, WatchScope)>,
) -> Result<(i32, Option<Tracer>), NotLaunched> {
    match watched {
        Some((before, scope)) => {
            let (pid, tracer) = trace::start(command, standard, inherited, before, scope)?;
            Ok((pid, Some(tracer)))
        }
        None => Ok((command.spawn(standard, inherited)?, None)),
    }
}

pub(super) fn split(watched: Option<Result<Tracer, String>>) -> (Option<Tracer>, Option<String>) {
    match watched.transpose() {
        Ok(tracer) => (tracer, None),
        Err(reason) => (None, Some(reason)),
    }
}

/// Read ends of these streams, and the shell's stdout and stderr as far as they are captured.
pub(super) fn capture(wanted: &[StreamId]) -> io::Result<(Vec<OwnedFd>, [Option<OwnedFd>; 2])> {
    let mut output = Vec::new();
    let [mut stdout, mut stderr] = [None, None];
    for stream in wanted {
        let (read, write) = pipe()?;
        output.push(read);
        match stream {
            StreamId::Merged => {
                stderr = Some(write.try_clone()?);
                stdout = Some(write);
            }
            StreamId::Stdout => stdout = Some(write),
            StreamId::Stderr => stderr = Some(write),
        }
    }
    Ok((output, [stdout, stderr]))
}

/// `/dev/null`, for a stream that is not connected.
pub(super) fn null(access: OFlags) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(
        "/dev/null",
        access | OFlags::CLOEXEC,
        Mode::empty(),
    )?)
}

pub(super) fn inode_of(pipe: &OwnedFd) -> Option<u64> {
    rustix::fs::fstat(pipe).ok().map(|stat| stat.st_ino)
}

/// Starts a shell on a terminal, puts it in the foreground, and lets it begin.
pub(super) fn launch_on_terminal(
    start: &TerminalStart,
    script: &OwnedFd,
    network: Option<&OwnedFd>,
) -> Result<LaunchedShell, NotLaunched> {
    let reason = match on_terminal(start, &start.start, script, network) {
        Err(NotLaunched::Box(SandboxError::Unwatched(reason))) => reason,
        other => return other,
    };
    let launched = on_terminal(start, &start.start.unwatched(), script, network)?;
    Ok(launched.unwatched(reason))
}

fn on_terminal(
    start: &TerminalStart,
    shell: &ShellStart,
    script: &OwnedFd,
    network: Option<&OwnedFd>,
) -> Result<LaunchedShell, NotLaunched> {
    // Opened first to keep its number low: a shell other than bash may only know descriptors of one
    // digit.
    let (control_read, control) = pipe()?;
    // The first terminal opened by a session leader without one becomes the controlling terminal.
    let terminal = rustix::fs::open(
        &start.terminal,
        OFlags::RDWR | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let (script_fd, control_fd) = (script.as_raw_fd(), control_read.as_raw_fd());
    let confined = SandboxedStart::prepare(shell, &[script_fd, control_fd], network)?;
    let report = ReportPipe::of(confined.as_ref().map(SandboxedStart::report))?;
    let command = ShellCommand::of(
        shell,
        &[
            (SCRIPT_FD, script_fd.to_string()),
            (CONTROL_FD, control_fd.to_string()),
            (REPORT_PLACEHOLDER, report.path()),
        ],
    );
    let command = match &confined {
        Some(confined) => confined.command(command),
        None => command,
    };
    let clone = || terminal.try_clone();
    let is_watched = shell.is_watched() && confined.is_none();
    let watched = is_watched.then_some((Before::Other, WatchScope::Changes));
    let standard = [clone()?, clone()?, clone()?];
    let (pid, tracer) = spawn(&command, standard, &[script, &control_read], watched)?;
    let boot = command.boot();
    let closed = confined.map(|confined| confined.closed(pid)).transpose()?;
    let closed = closed.unwrap_or_default();
    let (in_box, unwatched) = split(closed.watched);
    let tracer = tracer.or(in_box);
    limits::apply(pid, &shell.limits)?;
    // Until told to begin, the shell reads its control pipe rather than the terminal, so it cannot
    // get SIGTTIN before this.
    let group = Pid::from_raw(pid).ok_or(io::Error::from(io::ErrorKind::InvalidData))?;
    rustix::termios::tcsetpgrp(&terminal, group)?;
    // If the shell has already ended it is reaped like any other.
    let _ = File::from(control).write_all(start.commit.as_bytes());
    Ok(LaunchedShell {
        shell: Shell {
            pid,
            pipes: Vec::new(),
            boot,
            report,
            shares_directory: closed.sandbox.is_some(),
            directory: closed.directory,
            mounts: closed.mounts,
            view: None,
            tracer,
            terminal: Some(Terminal::at(&start.terminal)),
            phase: ShellPhase::Running,
        },
        event: Event::Started {
            pid: pid.unsigned_abs(),
            script_fd,
            stdin_fd: None,
            sandbox: closed.sandbox,
            held_back: closed.held_back,
            unwatched,
        },
        host_ends: Vec::new(),
    })
}
