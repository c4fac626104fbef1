//! The shell of the current call, and what the host knows about its end.

use crate::supervisor::protocol::{Event, ShellEnd};
use crate::supervisor::server::report::ReportPipe;
use crate::supervisor::server::terminal::Terminal;
use crate::supervisor::server::trace::Tracer;
use crate::supervisor::shell_directory::ShellDirectory;
use agent_bash_sandbox::view::View;
use std::os::fd::OwnedFd;

/// The shell of the current call.
#[derive(Debug)]
pub(super) struct Shell {
    pub(super) pid: i32,
    /// Inodes of its output pipes.
    pub(super) pipes: Vec<u64>,
    /// The argument by which its forks are recognised.
    pub(super) boot: Vec<u8>,
    pub(super) report: ReportPipe,
    /// The shell's own directory, if it is kept in something.
    pub(super) directory: Option<ShellDirectory>,
    /// True if the shell's survivors use that directory, too: in a sandbox, temporary files are
    /// there; in a view, it may be mounted.
    pub(super) shares_directory: bool,
    /// The shell's mounts, if it has its own; kept until the host knows of its end.
    pub(super) mounts: Option<OwnedFd>,
    /// The overlay that holds back the shell's changes, if the shell waited for one; mounted until
    /// all of its processes have ended.
    pub(super) view: Option<View>,
    /// The tracer, if the shell is traced; kept as long as a process of the call may change files.
    pub(super) tracer: Option<Tracer>,
    /// The terminal it is on, if any.
    pub(super) terminal: Option<Terminal>,
    pub(super) phase: ShellPhase,
}

/// The phase of a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShellPhase {
    /// The shell is not reaped yet.
    Running,
    /// The shell has ended, and the host does not know it yet.
    Ended(ShellEnd),
    /// The host knows that it has ended, and that processes are left.
    Leaving(ShellEnd),
    /// The host knows that no processes are left.
    Over(ShellEnd),
}

impl Shell {
    /// The end of the shell, if it has ended.
    pub(super) fn end(&self) -> Option<ShellEnd> {
        match self.phase {
            ShellPhase::Running => None,
            ShellPhase::Ended(end) | ShellPhase::Leaving(end) | ShellPhase::Over(end) => Some(end),
        }
    }

    /// True if all processes of the shell's call have ended, and the host knows.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.phase, ShellPhase::Over(_))
    }

    /// Returns its private directory, once the host knows its end and no process uses the
    /// directory. Its mounts are released.
    pub(super) fn abandoned(&mut self) -> Option<ShellDirectory> {
        let is_told = matches!(self.phase, ShellPhase::Leaving(_) | ShellPhase::Over(_));
        drop(self.mounts.take_if(|_| is_told));
        // With a remaining process, paths would lead to the workspace itself.
        let is_over = self.is_over();
        drop(self.view.take_if(|_| is_over));
        let is_used = self.shares_directory && !self.is_over();
        self.directory.take_if(|_| is_told && !is_used)
    }

    /// The event to send to the host now. `empty`: no processes are left.
    pub(super) fn news(&mut self, empty: bool) -> Option<Event> {
        let (next, event) = match self.phase {
            ShellPhase::Ended(end) => {
                let report = self.report.take();
                let next = if empty {
                    ShellPhase::Over(end)
                } else {
                    ShellPhase::Leaving(end)
                };
                (next, Event::Ended { end, empty, report })
            }
            ShellPhase::Leaving(end) if empty => (ShellPhase::Over(end), Event::Empty),
            ShellPhase::Running | ShellPhase::Leaving(_) | ShellPhase::Over(_) => return None,
        };
        self.phase = next;
        Some(event)
    }
}
