//! Executes orders and answers them.

use super::{HostRelation, Server, now};
use crate::supervisor::protocol::{
    DetachOptions, DirectStart, Event, Order, ShellStart, TerminalStart,
};
use crate::supervisor::server::direct::launch_directly;
use crate::supervisor::server::finishing::Finishing;
use crate::supervisor::server::job::Job;
use crate::supervisor::server::launch::{LaunchedShell, launch, launch_on_terminal};
use crate::supervisor::server::sandboxed_start::NotLaunched;
use crate::supervisor::server::shell::{Shell, ShellPhase};
use crate::supervisor::server::trace::{Tracer, TracerReuse};
use crate::supervisor::server::tree::CallProcesses;
use agent_bash_core::changes::{Overlay, TraceState};
use agent_bash_sandbox::SandboxError;
use agent_bash_sandbox::view::{self, View};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// An immediate answer to an order, with its descriptors.
type OrderReply = (Event, Vec<OwnedFd>);

/// The reason for an order whose descriptors are missing.
const INCOMPLETE_ORDER: &str = "the order came without its descriptors";

impl Server {
    /// Executes an order. `None` if it is answered by later events, as documented in `protocol`.
    pub(super) fn execute(&mut self, order: Order, fds: Vec<OwnedFd>) -> Option<OrderReply> {
        let event = match order {
            Order::Start(start) => {
                let answer = self.start(&start, &fds, TracerReuse::NewTracer);
                self.last_start = Some(start);
                return Some(answer);
            }
            Order::StartAnother => {
                let Some(start) = self.last_start.take() else {
                    return Some(not_started("no shell was started before"));
                };
                let previous = self.reusable_tracer();
                let answer = self.start(&start, &fds, previous);
                self.last_start = Some(start);
                return Some(answer);
            }
            Order::StartOnTerminal(start) => return Some(self.start_on_terminal(&start, &fds)),
            Order::StartDirectly(start) => return Some(self.start_directly(&start, &fds)),
            Order::Terminate {
                grace_ms,
                stop_shell,
            } => {
                self.terminate(Duration::from_millis(grace_ms), stop_shell);
                return None;
            }
            Order::LetFinish { limit_ms, grace_ms } => {
                let [limit, grace] = [limit_ms, grace_ms].map(Duration::from_millis);
                // The fallback's thread ends with its program, so it cannot let the shell finish.
                if matches!(self.tree, CallProcesses::Descendants { .. }) {
                    self.finishing = Some(Finishing::new(now() + limit, grace));
                }
                return None;
            }
            Order::WatchSurvivors => {
                self.watch_survivors();
                return None;
            }
            Order::EndSurvivors { grace_ms } => {
                self.end_survivors(Duration::from_millis(grace_ms));
                return None;
            }
            Order::Record { set, wants_answer } => {
                let running = wants_answer.then(|| self.live_processes());
                let traced = match self.tracer() {
                    Some(tracer) => tracer.record(set.into(), running),
                    None => not_traced(),
                };
                if !wants_answer {
                    return None;
                }
                let incomplete_reason = traced.incomplete_reason;
                Event::Recording { incomplete_reason }
            }
            Order::StopRecording => {
                let running = self
                    .tracer()
                    .is_some()
                    .then(|| self.remaining_processes())
                    .flatten();
                let traced = self.tracer();
                let traced = traced.map_or_else(not_traced, |tracer| tracer.stop(running));
                Event::Recorded { traced }
            }
            Order::HoldBack { overlay } => match self.hold_back(&overlay) {
                Ok(()) => Event::HeldBack,
                Err(error) => Event::NoTrial {
                    reason: error.to_string(),
                },
            },
            Order::Survivors => Event::Survivors {
                survivors: self.unreported_survivors(),
            },
            Order::Adopt(adopt) => match self.adopt(adopt, fds) {
                Ok(()) => Event::Adopted,
                Err(error) => Event::AdoptFailed {
                    reason: error.to_string(),
                },
            },
            Order::Detach(detach) => match self.detach(&detach, fds) {
                Ok(()) => Event::Detached,
                Err(error) => Event::DetachFailed {
                    reason: error.to_string(),
                },
            },
        };
        Some((event, Vec::new()))
    }

    pub(super) fn tracer(&self) -> Option<&Tracer> {
        self.shell.as_ref().and_then(|shell| shell.tracer.as_ref())
    }

    /// Returns the tracer that a shell with the same start as the last one may reuse.
    fn reusable_tracer(&mut self) -> TracerReuse {
        let has_survivors = !self.session_processes.is_empty() || self.job.is_some();
        let ended_shell = self.shell.as_mut().filter(|shell| shell.all_ended());
        match ended_shell {
            Some(shell) if !has_survivors => TracerReuse::Same(shell.tracer.take()),
            _ => TracerReuse::NewTracer,
        }
    }

    fn start(&mut self, start: &ShellStart, fds: &[OwnedFd], previous: TracerReuse) -> OrderReply {
        if self.shell.as_ref().is_some_and(|shell| !shell.all_ended()) {
            return not_started("the supervisor still has a shell");
        }
        let count = usize::from(start.inherits_stdin);
        let Some((stdin, network)) = split_network(start, count, fds) else {
            return not_started(INCOMPLETE_ORDER);
        };
        // An earlier order to end the tree may have arrived after the tree had ended. It must not
        // end this shell.
        self.ladder = None;
        let launched = self
            .leave_host_mounts(start)
            .map_err(NotLaunched::from)
            .and_then(|()| launch(start, stdin.first(), network, &self.starter, previous));
        if let (CallProcesses::Marked(marked), Ok(LaunchedShell { shell, .. })) =
            (&mut self.tree, &launched)
        {
            marked.set_shell(shell.pid, &shell.pipes);
        }
        self.begin(start, launched)
    }

    /// Leaves the host's mount namespace if the shell waits with private mounts, unless this
    /// process has left it for an earlier shell.
    fn leave_host_mounts(&mut self, start: &ShellStart) -> Result<(), SandboxError> {
        let is_wanted = start.private_mounts_at().is_some();
        if is_wanted && !self.has_private_mounts {
            if !matches!(self.tree, CallProcesses::Descendants { .. }) {
                return Err(SandboxError::NoTrial(
                    "it needs a separate supervisor process".to_owned(),
                ));
            }
            view::leave_host()?;
            self.has_private_mounts = true;
        }
        if is_wanted != self.has_private_mounts {
            return Err(SandboxError::Start(
                "its supervisor has left the host's mounts",
            ));
        }
        Ok(())
    }

    /// Mounts the overlay for the waiting shell.
    fn hold_back(&mut self, overlay: &Overlay) -> Result<(), SandboxError> {
        let waits = |shell: &&mut Shell| shell.phase == ShellPhase::Running && shell.view.is_none();
        let shell = self.shell.as_mut().filter(waits);
        let (true, Some(shell)) = (self.has_private_mounts, shell) else {
            return Err(SandboxError::NoTrial(
                "no shell waits for a trial".to_owned(),
            ));
        };
        let directories = shell
            .directory
            .iter()
            .map(|directory| directory.path().to_owned());
        shell.view = Some(View::mount(overlay, &directories.collect::<Vec<_>>())?);
        Ok(())
    }

    fn start_on_terminal(&mut self, start: &TerminalStart, fds: &[OwnedFd]) -> OrderReply {
        // Only once: the terminal stays the controlling terminal of this process session.
        if !matches!(self.tree, CallProcesses::Descendants { .. }) || self.shell.is_some() {
            return not_started("a shell on a terminal needs a supervisor of its own");
        }
        match split_network(&start.start, 1, fds) {
            Some(([script], network)) => {
                self.begin(&start.start, launch_on_terminal(start, script, network))
            }
            _ => not_started(INCOMPLETE_ORDER),
        }
    }

    fn start_directly(&mut self, start: &DirectStart, fds: &[OwnedFd]) -> OrderReply {
        // Only once: the inherited descriptors are passed to that shell.
        if !matches!(self.tree, CallProcesses::Descendants { .. }) || self.shell.is_some() {
            return not_started("a shell with its own command line needs a supervisor of its own");
        }
        let Some((inherited, network)) = split_network(&start.start, start.inherited.len(), fds)
        else {
            return not_started(INCOMPLETE_ORDER);
        };
        self.tree.share_session();
        let launched = launch_directly(start, inherited, network, &self.passed_on);
        let reply = self.begin(&start.start, launched);
        for descriptor in self.passed_on.descriptors.drain(..) {
            let _ = nix::unistd::close(descriptor);
        }
        // Survivors may run for long; meanwhile the directory must be removable.
        let _ = rustix::process::chdir("/");
        reply
    }

    /// Makes a started shell the current one. Returns the reply to the order that started it.
    fn begin(
        &mut self,
        start: &ShellStart,
        launched: Result<LaunchedShell, NotLaunched>,
    ) -> OrderReply {
        match launched {
            Ok(launched) => {
                self.shell = Some(launched.shell);
                (launched.event, launched.host_ends)
            }
            Err(NotLaunched::System(error)) => {
                not_started(&format!("{}: {error}", start.program.display()))
            }
            Err(NotLaunched::Directory(error)) => not_started(&error.to_string()),
            Err(NotLaunched::Sandbox(SandboxError::NoTrial(reason))) => {
                (Event::NoTrial { reason }, Vec::new())
            }
            Err(NotLaunched::Sandbox(SandboxError::Lacks { what })) => {
                let what = what.into_owned();
                (Event::SandboxLacks { what }, Vec::new())
            }
            Err(NotLaunched::Sandbox(SandboxError::Untraced(reason))) => {
                (Event::NoTrace { reason }, Vec::new())
            }
            Err(NotLaunched::Sandbox(error)) => {
                let reason = error.to_string();
                (Event::SandboxFailed { reason }, Vec::new())
            }
        }
    }

    fn detach(&mut self, detach: &DetachOptions, fds: Vec<OwnedFd>) -> io::Result<()> {
        if let CallProcesses::Marked(_) = self.tree {
            return Err(io::Error::other("it would not outlive this program"));
        }
        let mut fds = fds.into_iter();
        let (Some(output), Some(control)) = (fds.next(), fds.next()) else {
            return Err(io::Error::other(INCOMPLETE_ORDER));
        };
        let job = Job::take_over(detach, fds.next(), now())?;
        let files: Vec<OwnedFd> = job.output()?.into_iter().map(File::into).collect();
        let started = self
            .relay
            .add(vec![output], files, detach.quota)
            .and_then(|()| job.run(control, &detach.commit));
        if let Err(error) = started {
            self.relay.close();
            return Err(error);
        }
        self.job = Some(job);
        self.host = HostRelation::Released;
        Ok(())
    }
}

/// Splits the descriptors of an order to start a shell: the first `count` descriptors, and the
/// entrance to the shared network, if `start` has a role in one. `None` if a descriptor is missing.
fn split_network<'a>(
    start: &ShellStart,
    count: usize,
    fds: &'a [OwnedFd],
) -> Option<(&'a [OwnedFd], Option<&'a OwnedFd>)> {
    let (first, rest) = fds.split_at_checked(count)?;
    match start.network {
        Some(_) => Some((first, Some(rest.first()?))),
        None => Some((first, None)),
    }
}

fn not_traced() -> TraceState {
    TraceState::incomplete("this shell is not traced")
}

fn not_started(reason: &str) -> OrderReply {
    let reason = reason.to_owned();
    (Event::StartFailed { reason }, Vec::new())
}
