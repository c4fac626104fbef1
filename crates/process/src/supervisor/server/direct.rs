//! Starts a shell that runs its own command line: in the process group of its host, with the host's
//! descriptors, except for captured streams.

use super::launch::{LaunchedShell, capture, complete, launch_or_untraced, null, spawn};
use super::report::ReportPipe;
use super::sandboxed_start::{NotLaunched, SandboxedStart};
use super::shell::Shell;
use super::shell_command::ShellCommand;
use super::trace::{self, TracerReuse};
use crate::proc_scan;
use crate::supervisor::nested;
use crate::supervisor::protocol::{DirectStart, Event, ShellStart};
use agent_bash_sandbox::TraceScope;
use nix::sys::signal::{SigSet, SigmaskHow};
use rustix::fs::OFlags;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// State that a supervisor in the session of its host has inherited, and passes on to the shell.
#[derive(Debug)]
pub(super) struct InheritedState {
    /// The numbers of open descriptors without close-on-exec.
    pub(super) descriptors: Vec<i32>,
    blocked_signals: SigSet,
}

impl InheritedState {
    pub(super) fn nothing() -> Self {
        Self {
            descriptors: Vec::new(),
            blocked_signals: SigSet::empty(),
        }
    }

    /// Takes the state of this process, and unblocks all signals: the process waits for
    /// SIGCHLD.
    pub(super) fn take() -> io::Result<Self> {
        Ok(Self {
            descriptors: proc_scan::inherited_descriptors(),
            blocked_signals: SigSet::empty().thread_swap_mask(SigmaskHow::SIG_SETMASK)?,
        })
    }
}

/// Starts the shell. `descriptors` are those of [`DirectStart::inherited`].
pub(super) fn launch_directly(
    start: &DirectStart,
    descriptors: &[OwnedFd],
    network: Option<&OwnedFd>,
    inherited: &InheritedState,
) -> Result<LaunchedShell, NotLaunched> {
    let own_mask = inherited
        .blocked_signals
        .thread_swap_mask(SigmaskHow::SIG_SETMASK)
        .map_err(io::Error::from)?;
    let mut marked = start.start.clone();
    marked.env_changes.push(nested::variable());
    let passed_on = &inherited.descriptors;
    let launch = |shell: &ShellStart| launch(start, shell, descriptors, network, passed_on);
    let launched = if start.needs_trace {
        launch(&marked)
    } else {
        launch_or_untraced(&marked, launch)
    };
    own_mask.thread_set_mask().map_err(io::Error::from)?;
    launched
}

/// Starts the shell once. `inherited` are the standard descriptors from the order. `passed_on` are
/// the numbers of the supervisor's own descriptors that the shell gets.
fn launch(
    direct: &DirectStart,
    start: &ShellStart,
    inherited: &[OwnedFd],
    network: Option<&OwnedFd>,
    passed_on: &[i32],
) -> Result<LaunchedShell, NotLaunched> {
    let null = || null(OFlags::RDWR);
    let mut standard = [null()?, null()?, null()?];
    for (number, descriptor) in direct.inherited.iter().zip(inherited) {
        if let Some(slot) = standard.get_mut(usize::from(*number)) {
            *slot = descriptor.try_clone()?;
        }
    }
    let (output, captured) = capture(&start.output)?;
    let mut files = trace::inherited_files(passed_on.iter().copied());
    for (slot, stream) in standard[1..].iter_mut().zip(captured) {
        if let Some(stream) = stream {
            *slot = stream;
        }
    }
    files.extend(trace::inherited_files(
        standard.iter().map(AsRawFd::as_raw_fd),
    ));
    SandboxedStart::check_inherited(start, standard.iter().map(AsRawFd::as_raw_fd))?;
    let sandboxed = SandboxedStart::prepare(start, passed_on, network)?;
    let command = ShellCommand {
        group: direct.group,
        ..ShellCommand::of(start, &[])
    };
    let command = SandboxedStart::command(sandboxed.as_ref(), command);
    let is_traced = start.is_traced() && sandboxed.is_none();
    let trace = is_traced.then_some((TracerReuse::NewTracer, TraceScope::Changes));
    let (pid, tracer) = spawn(&command, standard, &[], trace)?;
    // The shell already runs, so processes that it started may be children of this process.
    let own_pid = std::process::id().cast_signed();
    let report = ReportPipe::of(None)?;
    let completed = complete(pid, own_pid, &start.limits, report, sandboxed, tracer)?;
    if let Some(tracer) = &completed.shell.tracer {
        tracer.exclude(direct.unrecorded.clone());
        tracer.set_inherited(files);
    }
    let pipes = output.iter().map(AsFd::as_fd);
    Ok(LaunchedShell {
        shell: Shell {
            pipes: pipes.filter_map(proc_scan::inode_of_pipe).collect(),
            ..completed.shell
        },
        event: Event::Running {
            pid: pid.unsigned_abs(),
            sandbox: completed.sandbox,
            untraced_reason: completed.untraced_reason,
            tree_limits: completed.tree_limits,
        },
        host_ends: output,
    })
}
