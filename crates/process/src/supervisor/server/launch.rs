//! Starts a shell with its pipes and its script file, or on a terminal.
//!
//! On a terminal, the supervisor already leads the process session, so it opens the terminal, which
//! thereby becomes the controlling terminal, and puts the shell's process group in the foreground.
//! The shell does not lead the session itself: when a session leader ends, the kernel hangs up the
//! terminal, and background processes would die with the shell. Without a terminal, they live on.
//!
//! Not here: creating and reading terminals (`agent-bash-pty`).

use super::report::ReportPipe;
use super::sandboxed_start::{NotLaunched, SandboxedStart};
use super::shell::{Shell, ShellPhase};
use super::shell_command::{
    CONTROL_FD, EXPORTS_FD, REPORT_PLACEHOLDER, SCRIPT_FD, STATUS_FD, STDIN_FD, ShellCommand,
};
use super::trace::{self, Tracer, TracerReuse};
use super::{leader, limits};
use crate::cgroup::TreeLimits;
use crate::platform::{pipe, unnamed_file};
use crate::proc_scan;
use crate::report_socket::report_sockets;
use crate::supervisor::protocol::{Event, ShellStart, TerminalStart};
use crate::supervisor::shell_directory::ShellDirectory;
use crate::temporary::SHARED_DIRECTORY;
use agent_bash_core::sandbox::Report;
use agent_bash_core::{Limits, StreamId};
use agent_bash_sandbox::{SandboxError, TraceScope};
use rustix::fs::{Mode, OFlags};
use rustix::process::Pid;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

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

/// A started shell, with the event and the descriptors to send to the host.
#[derive(Debug)]
pub(super) struct LaunchedShell {
    pub(super) shell: Shell,
    pub(super) event: Event,
    /// Script file, control pipe, streams: in the order in which they are sent.
    pub(super) host_ends: Vec<OwnedFd>,
}

/// Starts a shell. `stdin` is the script's stdin; the shell itself reads its control pipe.
/// `network` is the socket with the namespaces of the network that the shell's sandbox shares.
pub(super) fn launch(
    start: &ShellStart,
    stdin: Option<&OwnedFd>,
    network: Option<&OwnedFd>,
    starter: &ShellStarter,
    tracer_reuse: TracerReuse,
) -> Result<LaunchedShell, NotLaunched> {
    let mut tracer_reuse = Some(tracer_reuse);
    launch_or_untraced(start, |start| match starter {
        ShellStarter::Leader { .. } if start.is_traced() => {
            let reason = "tracing needs a separate supervisor process".to_owned();
            Err(SandboxError::Untraced(reason).into())
        }
        _ => try_launch(start, stdin, network, starter, tracer_reuse.take()),
    })
}

/// Starts a shell by `launch`. If the shell cannot be traced, starts it without a trace, and adds
/// the reason to the event.
pub(super) fn launch_or_untraced(
    start: &ShellStart,
    mut launch: impl FnMut(&ShellStart) -> Result<LaunchedShell, NotLaunched>,
) -> Result<LaunchedShell, NotLaunched> {
    let reason = match launch(start) {
        Err(NotLaunched::Sandbox(SandboxError::Untraced(reason))) => reason,
        other => return other,
    };
    let mut launched = launch(&start.without_trace())?;
    if let Event::Started {
        untraced_reason, ..
    }
    | Event::Running {
        untraced_reason, ..
    } = &mut launched.event
    {
        *untraced_reason = Some(reason);
    }
    Ok(launched)
}

/// Starts a shell once. `tracer_reuse` is `None` for a shell that is not traced.
fn try_launch(
    start: &ShellStart,
    stdin: Option<&OwnedFd>,
    network: Option<&OwnedFd>,
    starter: &ShellStarter,
    tracer_reuse: Option<TracerReuse>,
) -> Result<LaunchedShell, NotLaunched> {
    let script = unnamed_file("agent-bash-script")?;
    let (control_read, control) = pipe()?;
    let (output, captured) = capture(&start.output)?;
    let [stdout, stderr] = captured.map(|stream| stream.map_or_else(|| null(OFlags::WRONLY), Ok));
    let pipes = output.iter().map(AsFd::as_fd);
    let pipes = pipes.filter_map(proc_scan::inode_of_pipe).collect();
    let mut reports = Vec::new();
    let mut report_descriptors = Vec::new();
    if start.reports {
        for placeholder in [STATUS_FD, EXPORTS_FD] {
            let (host, shell) = report_sockets()?;
            reports.push(host);
            report_descriptors.push((placeholder, shell));
        }
    }
    let inherited = [&script].into_iter().chain(stdin);
    let inherited: Vec<&OwnedFd> = inherited
        .chain(report_descriptors.iter().map(|(_, socket)| socket))
        .collect();
    let numbers: Vec<i32> = inherited.iter().map(|fd| fd.as_raw_fd()).collect();
    let sandboxed = SandboxedStart::prepare(start, &numbers, network)?;
    let private_directory = start
        .private_mounts_at()
        .map(|parent| ShellDirectory::create(parent, None))
        .transpose()?;
    let fifo = sandboxed.as_ref().map(SandboxedStart::report);
    let fifo = fifo.or_else(|| private_directory.as_ref().map(ShellDirectory::report));
    let report = report_pipe(start, fifo)?;
    let script_fd = script.as_raw_fd();
    let mut placeholders = vec![
        (SCRIPT_FD, script_fd.to_string()),
        (REPORT_PLACEHOLDER, report.path()),
    ];
    placeholders.extend(stdin.map(|stdin| (STDIN_FD, stdin.as_raw_fd().to_string())));
    let reported = report_descriptors.iter();
    placeholders.extend(reported.map(|(name, socket)| (*name, socket.as_raw_fd().to_string())));
    let shell = ShellCommand::of(start, &placeholders);
    let command = SandboxedStart::command(sandboxed.as_ref(), shell);
    let standard = [control_read, stdout?, stderr?];
    let (pid, tracer) = match starter {
        ShellStarter::Child => {
            // A sandboxed shell is traced by its launcher.
            let scope = trace_scope(start).filter(|_| sandboxed.is_none());
            let trace = tracer_reuse.zip(scope);
            spawn(&command, standard, &inherited, trace)?
        }
        ShellStarter::Leader { .. } if sandboxed.is_some() => return Err(no_process(start).into()),
        ShellStarter::Leader { env } => {
            let pid = leader::start(&command, env, &standard, &inherited)?;
            (pid, None)
        }
    };
    let startup_argument = command.startup_argument();
    let completed = complete(pid, pid, &start.limits, report, sandboxed, tracer)?;
    Ok(LaunchedShell {
        shell: Shell {
            pipes,
            startup_argument,
            shares_directory: completed.shell.shares_directory || private_directory.is_some(),
            directory: completed.shell.directory.or(private_directory),
            tracer: trace::with_input(completed.shell.tracer, stdin),
            ..completed.shell
        },
        event: Event::Started {
            pid: pid.unsigned_abs(),
            script_fd,
            stdin_fd: stdin.map(AsRawFd::as_raw_fd),
            sandbox: completed.sandbox,
            held_back: completed.held_back,
            untraced_reason: completed.untraced_reason,
            tree_limits: completed.tree_limits,
        },
        host_ends: [script, control]
            .into_iter()
            .chain(reports)
            .chain(output)
            .collect(),
    })
}

/// Returns the error for a sandbox or a trial without a separate supervisor process.
fn no_process(start: &ShellStart) -> SandboxError {
    let facility = "a separate supervisor process";
    let sandbox = start.sandbox.as_ref();
    match sandbox.and_then(|sandbox| sandbox.trial.as_ref()) {
        Some(_) => SandboxError::NoTrial(format!("it needs {facility}")),
        None => SandboxError::missing_facility(facility),
    }
}

/// Returns the scope of tracing for a shell without a launcher. A shell that waits for a trial is
/// only traced for sockets.
fn trace_scope(start: &ShellStart) -> Option<TraceScope> {
    if start.is_traced() {
        return Some(TraceScope::Changes);
    }
    let private = start.private_mounts_at();
    private.map(|_| TraceScope::Sockets)
}

/// Starts the shell as a child, traced if `trace` is `Some`. Returns its pid and its tracer.
pub(super) fn spawn(
    command: &ShellCommand<'_>,
    standard: [OwnedFd; 3],
    inherited: &[&OwnedFd],
    trace: Option<(TracerReuse, TraceScope)>,
) -> Result<(i32, Option<Tracer>), NotLaunched> {
    match trace {
        Some((tracer_reuse, scope)) => {
            let (pid, tracer) = trace::start(command, standard, inherited, tracer_reuse, scope)?;
            Ok((pid, Some(tracer)))
        }
        None => Ok((command.spawn(standard, inherited)?, None)),
    }
}

/// A started shell without its output, with the facts about its start for the host.
#[derive(Debug)]
pub(super) struct CompletedStart {
    pub(super) shell: Shell,
    pub(super) sandbox: Option<Report>,
    /// True if the shell's changes are held back.
    pub(super) held_back: bool,
    /// The reason why the shell is not traced, if a trace was requested.
    pub(super) untraced_reason: Option<String>,
    pub(super) tree_limits: TreeLimits,
}

/// Waits until a started shell runs in its sandbox, if it has one. Then sets the limits of the
/// shell and of the descendants of `root`. `tracer` traces a shell without a launcher.
pub(super) fn complete(
    pid: i32,
    root: i32,
    limits: &Limits,
    report: ReportPipe,
    sandboxed: Option<SandboxedStart>,
    tracer: Option<Tracer>,
) -> Result<CompletedStart, NotLaunched> {
    let confinement = sandboxed
        .map(|sandboxed| sandboxed.wait_until_started(pid))
        .transpose()?
        .unwrap_or_default();
    let (sandbox_tracer, untraced_reason) = match confinement.tracer.transpose() {
        Ok(tracer) => (tracer, None),
        Err(reason) => (None, Some(reason)),
    };
    let (cgroup, tree_limits) = limits::apply(pid, root, limits)?;
    Ok(CompletedStart {
        shell: Shell {
            pid,
            pipes: Vec::new(),
            startup_argument: Vec::new(),
            report,
            shares_directory: confinement.sandbox.is_some(),
            directory: confinement.directory,
            mounts: confinement.mounts,
            view: None,
            tracer: tracer.or(sandbox_tracer),
            cgroup,
            terminal: None,
            phase: ShellPhase::Running,
        },
        sandbox: confinement.sandbox,
        held_back: confinement.held_back,
        untraced_reason,
        tree_limits,
    })
}

/// Creates a pipe for each stream. Returns the read ends, and the shell's stdout and stderr if they
/// are captured.
pub(super) fn capture(streams: &[StreamId]) -> io::Result<(Vec<OwnedFd>, [Option<OwnedFd>; 2])> {
    let mut output = Vec::new();
    let [mut stdout, mut stderr] = [None, None];
    for stream in streams {
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

/// Opens the pipe for the shell's report; `fifo` exists if the shell has a private directory.
fn report_pipe(start: &ShellStart, fifo: Option<PathBuf>) -> io::Result<ReportPipe> {
    if fifo.is_some() || !start.has_placeholder(REPORT_PLACEHOLDER) {
        return ReportPipe::of(fifo);
    }
    let sandbox = start.sandbox.as_ref();
    let tmpdir = sandbox.map_or(Path::new(SHARED_DIRECTORY), |it| &it.directory);
    ReportPipe::for_child(tmpdir)
}

/// Opens `/dev/null`, for a stream that is not connected.
pub(super) fn null(access: OFlags) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(
        "/dev/null",
        access | OFlags::CLOEXEC,
        Mode::empty(),
    )?)
}

/// Starts a shell on a terminal, puts it in the foreground, and lets it run its script.
pub(super) fn launch_on_terminal(
    start: &TerminalStart,
    script: &OwnedFd,
    network: Option<&OwnedFd>,
) -> Result<LaunchedShell, NotLaunched> {
    let launch = |shell: &ShellStart| try_launch_on_terminal(start, shell, script, network);
    launch_or_untraced(&start.start, launch)
}

fn try_launch_on_terminal(
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
    let sandboxed = SandboxedStart::prepare(shell, &[script_fd, control_fd], network)?;
    let report = report_pipe(shell, sandboxed.as_ref().map(SandboxedStart::report))?;
    let command = ShellCommand::of(
        shell,
        &[
            (SCRIPT_FD, script_fd.to_string()),
            (CONTROL_FD, control_fd.to_string()),
            (REPORT_PLACEHOLDER, report.path()),
        ],
    );
    let command = SandboxedStart::command(sandboxed.as_ref(), command);
    let clone = || terminal.try_clone();
    let is_traced = shell.is_traced() && sandboxed.is_none();
    let trace = is_traced.then_some((TracerReuse::NewTracer, TraceScope::Changes));
    let standard = [clone()?, clone()?, clone()?];
    let (pid, tracer) = spawn(&command, standard, &[script, &control_read], trace)?;
    let startup_argument = command.startup_argument();
    let completed = complete(pid, pid, &shell.limits, report, sandboxed, tracer)?;
    // The shell reads its control pipe before the terminal, so it cannot have got SIGTTIN yet.
    let group = Pid::from_raw(pid).ok_or(io::Error::from(io::ErrorKind::InvalidData))?;
    rustix::termios::tcsetpgrp(&terminal, group)?;
    // The write fails if the shell has already ended; the shell is then reaped as usual.
    let _ = File::from(control).write_all(start.commit.as_bytes());
    Ok(LaunchedShell {
        shell: Shell {
            startup_argument,
            terminal: Some(start.terminal.clone()),
            ..completed.shell
        },
        event: Event::Started {
            pid: pid.unsigned_abs(),
            script_fd,
            stdin_fd: None,
            sandbox: completed.sandbox,
            held_back: completed.held_back,
            untraced_reason: completed.untraced_reason,
            tree_limits: completed.tree_limits,
        },
        host_ends: Vec::new(),
    })
}
