//! The shell of the current call, and how much of its end was reported to the host.

use crate::cgroup::CallCgroup;
use crate::supervisor::protocol::{Event, ShellEnd};
use crate::supervisor::server::report::ReportPipe;
use crate::supervisor::server::trace::Tracer;
use crate::supervisor::shell_directory::ShellDirectory;
use agent_bash_sandbox::view::View;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// The shell of the current call.
#[derive(Debug)]
pub(super) struct Shell {
    pub(super) pid: i32,
    /// Inodes of the shell's output pipes.
    pub(super) pipes: Vec<u64>,
    /// The argument by which forks of the shell are recognised; see
    /// `ShellCommand::startup_argument`.
    pub(super) startup_argument: Vec<u8>,
    pub(super) report: ReportPipe,
    /// The shell's own directory, if it has a sandbox, a trial or private mounts.
    pub(super) directory: Option<ShellDirectory>,
    /// True if survivors also use `directory`, for the temporary files of a sandbox, or the mounts
    /// of an overlay.
    pub(super) shares_directory: bool,
    /// The shell's mounts, if it has its own; open until the host knows the shell's end.
    pub(super) mounts: Option<OwnedFd>,
    /// The overlay that holds back the shell's changes, if the shell waited for one; mounted until
    /// all of its processes have ended.
    pub(super) view: Option<View>,
    /// The tracer, if the shell is traced; kept as long as a process of the call may change files.
    pub(super) tracer: Option<Tracer>,
    /// The cgroup that limits the shell and its descendants, if it has one.
    pub(super) cgroup: Option<CallCgroup>,
    /// The path of the shell's terminal, if any.
    pub(super) terminal: Option<PathBuf>,
    pub(super) phase: ShellPhase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShellPhase {
    /// The shell is not reaped yet.
    Running,
    /// The shell has ended, and the host does not know it yet.
    Ended(ShellEnd),
    /// The host knows that the shell has ended, and that processes are left.
    HasSurvivors(ShellEnd),
    /// The host knows that no processes are left.
    AllEnded(ShellEnd),
}

impl Shell {
    /// The end of the shell, if it has ended.
    pub(super) fn end(&self) -> Option<ShellEnd> {
        match self.phase {
            ShellPhase::Running => None,
            ShellPhase::Ended(end) | ShellPhase::HasSurvivors(end) | ShellPhase::AllEnded(end) => {
                Some(end)
            }
        }
    }

    /// True if all processes of the shell's call have ended, and the host knows.
    pub(super) fn all_ended(&self) -> bool {
        matches!(self.phase, ShellPhase::AllEnded(_))
    }

    /// Returns, once, the private directory when the host knows the shell's end and no process uses
    /// the directory. Releases the mounts.
    pub(super) fn take_unused_directory(&mut self) -> Option<ShellDirectory> {
        let is_reported = matches!(
            self.phase,
            ShellPhase::HasSurvivors(_) | ShellPhase::AllEnded(_)
        );
        drop(self.mounts.take_if(|_| is_reported));
        // Without the overlay, the paths of a running process would lead to the workspace itself.
        let all_ended = self.all_ended();
        drop(self.view.take_if(|_| all_ended));
        let is_used = self.shares_directory && !self.all_ended();
        self.directory.take_if(|_| is_reported && !is_used)
    }

    /// Returns the event to send to the host now. `empty` is true if no processes are left.
    pub(super) fn next_event(&mut self, empty: bool) -> Option<Event> {
        let (next, event) = match self.phase {
            ShellPhase::Ended(end) => {
                let report = self.report.take();
                let next = if empty {
                    ShellPhase::AllEnded(end)
                } else {
                    ShellPhase::HasSurvivors(end)
                };
                (next, Event::Ended { end, empty, report })
            }
            ShellPhase::HasSurvivors(end) if empty => (ShellPhase::AllEnded(end), Event::Empty),
            ShellPhase::Running | ShellPhase::HasSurvivors(_) | ShellPhase::AllEnded(_) => {
                return None;
            }
        };
        self.phase = next;
        Some(event)
    }
}
