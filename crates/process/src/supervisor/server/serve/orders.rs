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
use crate::supervisor::server::trace::{Before, Tracer};
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

/// A descriptor that belongs to the order is missing.
const INCOMPLETE_ORDER: &str = "the order came without its descriptors";

impl Server {
    /// Executes an order. `None` if it is answered by later events, as documented in `protocol`.
    pub(super) fn obey(&mut self, order: Order, fds: Vec<OwnedFd>) -> Option<OrderReply> {
        let event = match order {
            Order::Start(start) => {
                let answer = self.start(&start, &fds, Before::Other);
                self.last = Some(start);
                return Some(answer);
            }
            Order::StartAnother => {
                let Some(start) = self.last.take() else {
                    return Some(not_started("no shell was started before"));
                };
                let before = self.before();
                let answer = self.start(&start, &fds, before);
                self.last = Some(start);
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
                // A thread ends with its program.
                if matches!(self.tree, CallProcesses::Below { .. }) {
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
            Order::Record { set, tell } => {
                let go_on = tell.then(|| self.live_processes());
                let traced = match self.tracer() {
                    Some(tracer) => tracer.record(set.into(), go_on),
                    None => unwatched(),
                };
                if !tell {
                    return None;
                }
                let lacking = traced.lacking;
                Event::Recording { lacking }
            }
            Order::StopRecording => {
                let go_on = self.tracer().is_some().then(|| self.continuing()).flatten();
                let traced = self.tracer();
                let traced = traced.map_or_else(unwatched, |tracer| tracer.stop(go_on));
                Event::Recorded { traced }
            }
            Order::HoldBack { overlay } => match self.hold_back(&overlay) {
                Ok(()) => Event::HeldBack,
                Err(error) => Event::NoTrial {
                    reason: error.to_string(),
                },
            },
            Order::Survivors => Event::Survivors {
                survivors: self.unnamed(),
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

    /// Returns the state before a shell that is started as the last one was.
    fn before(&mut self) -> Before {
        let is_left = !self.session_processes.is_empty() || self.job.is_some();
        let over = self.shell.as_mut().filter(|shell| shell.is_over());
        match over {
            Some(shell) if !is_left => Before::Same(shell.tracer.take()),
            _ => Before::Other,
        }
    }

    fn start(&mut self, start: &ShellStart, fds: &[OwnedFd], before: Before) -> OrderReply {
        if self.shell.as_ref().is_some_and(|shell| !shell.is_over()) {
            return not_started("the supervisor still has a shell");
        }
        let own = usize::from(start.inherits_stdin);
        let Some((own, network)) = with_network(start, own, fds) else {
            return not_started(INCOMPLETE_ORDER);
        };
        // An earlier order to end the tree may have arrived after the tree had ended by itself; it
        // does not concern this shell.
        self.ladder = None;
        let launched = self
            .part(start)
            .map_err(NotLaunched::from)
            .and_then(|()| launch(start, own.first(), network, &self.starter, before));
        if let (CallProcesses::Marked(marked), Ok(LaunchedShell { shell, .. })) =
            (&mut self.tree, &launched)
        {
            marked.leads(shell.pid, &shell.pipes);
        }
        self.begin(start, launched)
    }

    /// Leaves the host's mounts, if that was not done for an earlier shell, and this one is to wait
    /// apart from them.
    fn part(&mut self, start: &ShellStart) -> Result<(), SandboxError> {
        let is_to_be = start.private_mounts_at().is_some();
        if is_to_be && !self.is_apart {
            if !matches!(self.tree, CallProcesses::Below { .. }) {
                return Err(SandboxError::NoTrial("it takes a supervisor".to_owned()));
            }
            view::leave_host()?;
            self.is_apart = true;
        }
        if is_to_be != self.is_apart {
            return Err(SandboxError::Start(
                "its supervisor has left the host's mounts",
            ));
        }
        Ok(())
    }

    /// Mounts the view for the shell that waits.
    fn hold_back(&mut self, overlay: &Overlay) -> Result<(), SandboxError> {
        let waits = |shell: &&mut Shell| shell.phase == ShellPhase::Running && shell.view.is_none();
        let shell = self.shell.as_mut().filter(waits);
        let (true, Some(shell)) = (self.is_apart, shell) else {
            return Err(SandboxError::NoTrial("no shell waits for that".to_owned()));
        };
        let own = shell.directory.iter().map(|own| own.path().to_owned());
        shell.view = Some(View::mount(overlay, &own.collect::<Vec<_>>())?);
        Ok(())
    }

    fn start_on_terminal(&mut self, start: &TerminalStart, fds: &[OwnedFd]) -> OrderReply {
        // Only once: the terminal belongs to the session for good.
        if !matches!(self.tree, CallProcesses::Below { .. }) || self.shell.is_some() {
            return not_started("a terminal is for a supervisor of its own");
        }
        match with_network(&start.start, 1, fds) {
            Some(([script], network)) => {
                self.begin(&start.start, launch_on_terminal(start, script, network))
            }
            _ => not_started(INCOMPLETE_ORDER),
        }
    }

    fn start_directly(&mut self, start: &DirectStart, fds: &[OwnedFd]) -> OrderReply {
        // Only once: the inherited descriptors are the shell's.
        if !matches!(self.tree, CallProcesses::Below { .. }) || self.shell.is_some() {
            return not_started("the command line is for a supervisor of its own");
        }
        let Some((own, network)) = with_network(&start.start, start.inherited.len(), fds) else {
            return not_started(INCOMPLETE_ORDER);
        };
        self.tree.shares_group(start.group);
        let launched = launch_directly(start, own, network, &self.passed_on);
        let reply = self.begin(&start.start, launched);
        for descriptor in self.passed_on.descriptors.drain(..) {
            let _ = nix::unistd::close(descriptor);
        }
        // Its directory may be unmounted or removed while survivors are looked after.
        let _ = rustix::process::chdir("/");
        reply
    }

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
            Err(NotLaunched::Box(SandboxError::NoTrial(reason))) => {
                (Event::NoTrial { reason }, Vec::new())
            }
            Err(NotLaunched::Box(SandboxError::Lacks { what })) => {
                let what = what.into_owned();
                (Event::SandboxLacks { what }, Vec::new())
            }
            Err(NotLaunched::Box(SandboxError::Unwatched(reason))) => {
                (Event::NoTrace { reason }, Vec::new())
            }
            Err(NotLaunched::Box(error)) => {
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
        let job = Job::take(detach, fds.next(), now())?;
        let files: Vec<OwnedFd> = job.output()?.into_iter().map(File::into).collect();
        let taken = self
            .relay
            .take(vec![output], files, detach.quota)
            .and_then(|()| job.run(control, &detach.commit));
        if let Err(error) = taken {
            self.relay.close();
            return Err(error);
        }
        self.job = Some(job);
        self.host = HostRelation::Released;
        Ok(())
    }
}

/// The descriptors of an order to start a shell: `own` ones, and the way into the network that its
/// box shares, if it does.
fn with_network<'a>(
    start: &ShellStart,
    own: usize,
    fds: &'a [OwnedFd],
) -> Option<(&'a [OwnedFd], Option<&'a OwnedFd>)> {
    let (own, rest) = fds.split_at_checked(own)?;
    match start.network {
        Some(_) => Some((own, Some(rest.first()?))),
        None => Some((own, None)),
    }
}

fn unwatched() -> TraceState {
    TraceState::incomplete("this shell is not traced")
}

fn not_started(reason: &str) -> OrderReply {
    let reason = reason.to_owned();
    (Event::StartFailed { reason }, Vec::new())
}
