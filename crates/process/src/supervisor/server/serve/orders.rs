//! Executes orders and answers them.

use super::shell::{Phase, Shell};
use super::{Host, Server, now};
use crate::supervisor::protocol::{Detach, Event, Order, ShellStart, TerminalStart};
use crate::supervisor::server::job::Job;
use crate::supervisor::server::launch::{Launched, Report, launch};
use crate::supervisor::server::terminal;
use crate::supervisor::server::tree::Tree;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// The immediate answer to an order.
pub(super) struct Answer {
    pub(super) event: Event,
    pub(super) fds: Vec<OwnedFd>,
}

impl From<Event> for Answer {
    fn from(event: Event) -> Self {
        let fds = Vec::new();
        Self { event, fds }
    }
}

/// A descriptor that belongs to the order is missing.
const INCOMPLETE: &str = "the order came without its descriptors";

impl Server {
    /// Executes an order. `None` if it is answered by later events, as documented in `protocol`.
    pub(super) fn obey(&mut self, order: Order, fds: Vec<OwnedFd>) -> Option<Answer> {
        match order {
            Order::Start(start) => {
                let answer = self.start(&start, &fds);
                self.last = Some(start);
                Some(answer)
            }
            Order::StartAnother => Some(match self.last.take() {
                Some(start) => {
                    let answer = self.start(&start, &fds);
                    self.last = Some(start);
                    answer
                }
                None => not_started("no shell was started before"),
            }),
            Order::StartOnTerminal(start) => Some(self.start_on_terminal(&start, fds)),
            Order::Terminate {
                grace_ms,
                stop_shell,
            } => {
                self.terminate(Duration::from_millis(grace_ms), stop_shell);
                None
            }
            Order::Survivors => {
                let survivors = self.unnamed();
                Some(Event::Survivors { survivors }.into())
            }
            Order::Adopt {
                files,
                detach,
                quota,
                job,
            } => Some(match self.adopt(files, detach, quota, job, fds) {
                Ok(()) => Event::Adopted.into(),
                Err(error) => {
                    let reason = error.to_string();
                    Event::AdoptFailed { reason }.into()
                }
            }),
            Order::WatchSurvivors => {
                self.watch_survivors();
                None
            }
            Order::EndSurvivors { grace_ms } => {
                self.end_survivors(Duration::from_millis(grace_ms));
                None
            }
            Order::Detach(detach) => Some(match self.detach(&detach, fds) {
                Ok(()) => Event::Detached.into(),
                Err(error) => {
                    let reason = error.to_string();
                    Event::DetachFailed { reason }.into()
                }
            }),
        }
    }

    fn start(&mut self, start: &ShellStart, fds: &[OwnedFd]) -> Answer {
        if self.shell.as_ref().is_some_and(|shell| !shell.is_over()) {
            return not_started("the supervisor still has a shell");
        }
        if start.inherits_stdin && fds.is_empty() {
            return not_started(INCOMPLETE);
        }
        // An earlier order to end the tree may have arrived after the tree had ended by itself; it does not concern
        // this shell.
        self.ladder = None;
        match launch(start, fds.first(), &self.starter) {
            Ok(Launched {
                pid,
                script_fd,
                stdin_fd,
                host_ends,
                pipes,
                boot,
                report,
            }) => {
                if let Tree::Marked(marked) = &mut self.tree {
                    marked.leads(pid, &pipes);
                }
                self.shell = Some(Shell {
                    pid,
                    pipes,
                    boot,
                    report,
                    terminal: None,
                    phase: Phase::Running,
                });
                Answer {
                    event: Event::Started {
                        pid: pid.unsigned_abs(),
                        script_fd,
                        stdin_fd,
                    },
                    fds: host_ends,
                }
            }
            Err(error) => not_started(&format!("{}: {error}", start.program.display())),
        }
    }

    fn start_on_terminal(&mut self, start: &TerminalStart, fds: Vec<OwnedFd>) -> Answer {
        // Only once: the terminal belongs to the session for good.
        if !matches!(self.tree, Tree::Below { .. }) || self.shell.is_some() {
            return not_started("a terminal is for a supervisor of its own");
        }
        let Some(script) = fds.into_iter().next() else {
            return not_started(INCOMPLETE);
        };
        let launched = terminal::launch(start, &script);
        match launched.and_then(|launched| Ok((launched, Report::new()?))) {
            Ok((launched, report)) => {
                let pid = launched.pid;
                self.shell = Some(Shell {
                    pid,
                    pipes: Vec::new(),
                    boot: launched.boot,
                    report,
                    terminal: Some(launched.terminal),
                    phase: Phase::Running,
                });
                let started = Event::Started {
                    pid: pid.unsigned_abs(),
                    script_fd: launched.script_fd,
                    stdin_fd: None,
                };
                started.into()
            }
            Err(error) => not_started(&format!("{}: {error}", start.start.program.display())),
        }
    }

    fn detach(&mut self, detach: &Detach, fds: Vec<OwnedFd>) -> io::Result<()> {
        if let Tree::Marked(_) = self.tree {
            return Err(io::Error::other("it would not outlive this program"));
        }
        let mut fds = fds.into_iter();
        let (Some(output), Some(control)) = (fds.next(), fds.next()) else {
            return Err(io::Error::other(INCOMPLETE));
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
        self.host = Host::Released;
        Ok(())
    }
}

fn not_started(reason: &str) -> Answer {
    let reason = reason.to_owned();
    Event::StartFailed { reason }.into()
}
