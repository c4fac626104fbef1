//! Drives a call: waits for events, feeds them to the state machine, and carries out its actions.

use crate::alarm::Alarm;
use crate::machine::{Action, Event, FollowTerms, Machine};
use crate::{EndReason, OpenOutput, Progress, Source, SurvivorHandover, Watchdog, ending, fired};
use agent_bash_core::{Cancel, Clock, Outcome, OutputConsumer, Survivor, SurvivorPolicy};
use agent_bash_process::supervisor::{
    Disconnected, Event as SupervisorEvent, ShellEnd, SupervisorClient,
};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

/// A call whose shell has received its script.
#[derive(Debug)]
pub struct Follower<'a, S> {
    supervised: &'a mut SupervisorClient,
    source: &'a mut S,
    watchdog: Option<Watchdog>,
    handover: SurvivorHandover<'a>,
    clock: Arc<dyn Clock>,
    alarm: Alarm,
    machine: Machine,
    /// The report that the shell writes after the script.
    report: String,
    /// True once the source has passed on its last output.
    is_concluded: bool,
    /// True if a persistent shell continues: only the other processes of its call are awaited and
    /// killed.
    shell_continues: bool,
}

/// The end of a shell.
#[derive(Debug, Clone, Copy)]
pub struct ShellEnded {
    /// The time of the end, on the host's clock.
    pub at: Duration,
    /// Why the call was terminated, if it was.
    pub reason: Option<EndReason>,
    /// How the shell ended. `None` if the supervisor ended, the deadline for an answer passed, or
    /// the shell continues.
    pub shell: Option<ShellEnd>,
}

/// The end of a call and its remaining processes.
#[derive(Debug)]
pub struct FollowedCall {
    /// Why the call was terminated, if it was.
    pub reason: Option<EndReason>,
    /// How the shell ended. `None` if the supervisor ended, or the deadline for an answer passed
    /// before the shell's end.
    pub shell: Option<ShellEnd>,
    /// The report that the shell writes after the script.
    pub report: String,
    /// The remaining processes.
    pub survivors: Vec<Survivor>,
    /// True if no process remains: the supervisor can serve another call.
    pub is_empty: bool,
}

impl<'a, S: Source> Follower<'a, S> {
    /// Follows a call. The caller started `watchdog` when it handed over the script.
    pub fn new(
        supervised: &'a mut SupervisorClient,
        source: &'a mut S,
        watchdog: Option<Watchdog>,
        handover: SurvivorHandover<'a>,
        clock: &Arc<dyn Clock>,
        drain: Duration,
    ) -> Self {
        let spec = handover.spec;
        let terms = FollowTerms {
            grace: spec.grace,
            drain,
            survivors: handover.one_shot.then_some(spec.survivor_policy()),
        };
        Self {
            supervised,
            source,
            watchdog,
            handover,
            clock: Arc::clone(clock),
            alarm: Alarm::new(Arc::clone(clock)),
            machine: Machine::new(terms),
            report: String::new(),
            is_concluded: false,
            shell_continues: false,
        }
    }

    /// Kills the remaining processes of a call in a persistent shell, or waits for them for at most
    /// `limit`. The supervisor already watches them. Returns the processes that survive SIGKILL.
    pub async fn end_survivors(
        mut self,
        cancel: Cancel,
        limit: Option<Duration>,
        out: &mut dyn OutputConsumer,
    ) -> Vec<Survivor> {
        let (clock, spec) = (Arc::clone(&self.clock), self.handover.spec);
        let terms = FollowTerms {
            survivors: Some(spec.survivor_policy()),
            ..self.machine.terms()
        };
        self.shell_continues = true;
        self.machine = Machine::for_survivors(terms, self.source.ended(), clock.now());
        let link = self.supervised.link();
        self.watchdog = Some(Watchdog::for_survivors(
            link, clock, cancel, limit, spec.grace,
        ));
        self.until_done(out).await;
        self.machine.into_survivors()
    }

    /// Reads output until the shell has ended. If the call is being terminated, waits for its whole
    /// process tree.
    pub async fn until_ended(&mut self, out: &mut dyn OutputConsumer) -> ShellEnded {
        while self.machine.is_running() {
            self.next(out).await;
        }
        let may_have_survivors = self.machine.may_have_survivors();
        self.watchdog = self.watchdog.take().filter(|_| may_have_survivors);
        if self.machine.terms().survivors != Some(SurvivorPolicy::Wait) {
            self.watchdog = self.watchdog.take().map(Watchdog::unlimited);
        }
        ShellEnded {
            at: self.machine.ended_at(),
            reason: self.machine.reason(),
            shell: self.machine.shell(),
        }
    }

    /// Returns the source, for use between [`Self::until_ended`] and [`Self::finish`].
    pub fn source(&mut self) -> &mut S {
        self.source
    }

    /// Drains the output, and handles the remaining processes.
    pub async fn finish(mut self, out: &mut dyn OutputConsumer) -> FollowedCall {
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.watch_in_task();
        }
        self.step(Event::Finish, self.clock.now(), out).await;
        self.until_done(out).await;
        FollowedCall {
            reason: self.machine.reason(),
            shell: self.machine.shell(),
            report: self.report,
            is_empty: self.machine.is_empty(),
            survivors: self.machine.into_survivors(),
        }
    }

    async fn until_done(&mut self, out: &mut dyn OutputConsumer) {
        while !self.machine.is_done() {
            self.next(out).await;
        }
    }

    /// Waits for the next event and handles it.
    async fn next(&mut self, out: &mut dyn OutputConsumer) {
        let deadline = self.machine.deadline();
        let event = tokio::select! {
            biased;
            event = self.supervised.event(), if self.machine.expects_events() => self.supervisor_event(event.map(|(event, _)| event)),
            reason = fired(&mut self.watchdog), if self.machine.can_terminate() => Some(Event::Terminating(reason)),
            now = self.alarm.wait_until(deadline) => return self.step(Event::Due, now, out).await,
            ready = self.source.ready() => {
                if let Some(watchdog) = &mut self.watchdog {
                    watchdog.watch_in_task();
                }
                let progress = self.source.read(ready, out);
                progress.map(|progress| self.progress_event(progress))
            }
        };
        let Some(event) = event else { return };
        let now = self.clock.now();
        // The watchdog's task may have terminated the call in the meantime. The reason must be
        // known before the end is reported.
        let reason = self.watchdog.as_ref().and_then(Watchdog::reason);
        if let Some(reason) = reason.filter(|_| self.machine.is_running()) {
            self.step(Event::Terminating(reason), now, out).await;
        }
        self.step(event, now, out).await;
    }

    fn supervisor_event(&mut self, event: Result<SupervisorEvent, Disconnected>) -> Option<Event> {
        match event {
            Ok(SupervisorEvent::SurvivorsEnded { withstand }) if self.shell_continues => {
                Some(if withstand.is_empty() {
                    Event::Empty
                } else {
                    Event::Stuck(withstand)
                })
            }
            Err(Disconnected) => Some(Event::SupervisorEnded),
            Ok(_) if self.shell_continues => None,
            Ok(SupervisorEvent::Ended { end, empty, report }) => {
                self.report = report;
                Some(Event::ShellEnded { end, empty })
            }
            Ok(SupervisorEvent::Empty) => Some(Event::Empty),
            Ok(SupervisorEvent::Stuck { survivors }) => Some(Event::Stuck(survivors)),
            Ok(_) => None,
        }
    }

    fn progress_event(&self, progress: Progress) -> Event {
        match progress {
            Progress::HangUp => Event::HangUp,
            Progress::Unreadable => Event::Unreadable,
            Progress::ShellDone => Event::ShellDone,
            _ if self.source.ended() => Event::OutputEnded,
            Progress::Stopped => Event::ConsumerStopped,
            Progress::Chunk | Progress::Ended => Event::Read,
        }
    }

    /// Feeds an event to the state machine, and carries out its actions until it returns none.
    async fn step(&mut self, event: Event, now: Duration, out: &mut dyn OutputConsumer) {
        let mut event = Some(event);
        while let Some(current) = event.take() {
            event = match self.machine.step(current, now) {
                None => None,
                Some(Action::Wake) => {
                    if let Some(reason) = self.machine.reason() {
                        self.source.before_termination(reason);
                    }
                    self.supervised.wake();
                    None
                }
                Some(Action::Terminate { grace }) => {
                    let link = self.supervised.link();
                    let ordered = if self.shell_continues {
                        link.end_survivors(grace)
                    } else {
                        link.terminate(grace)
                    };
                    // If the supervisor has ended, its event stream reports that.
                    drop(ordered);
                    None
                }
                Some(Action::CloseStopped) => {
                    let progress = self.source.close_stopped();
                    Some(self.progress_event(progress))
                }
                Some(Action::ReadNow) => Some(self.read_now(out)),
                Some(Action::Sweep) => {
                    self.sweep();
                    Some(self.read_now(out))
                }
                Some(Action::HandOver) => Some(Event::HandedOver(self.hand_over(out).await)),
            };
        }
        if self.machine.is_done() {
            self.conclude(out);
        }
    }

    fn conclude(&mut self, out: &mut dyn OutputConsumer) {
        if !std::mem::replace(&mut self.is_concluded, true) {
            self.source.conclude(out);
        }
    }

    fn read_now(&mut self, out: &mut dyn OutputConsumer) -> Event {
        match self.source.read_now(out) {
            _ if self.source.ended() => Event::OutputEnded,
            true => Event::Read,
            false => Event::NothingRead,
        }
    }

    fn sweep(&self) {
        let output: Vec<BorrowedFd<'_>> =
            self.source.open_streams().map(|(_, pipe)| pipe).collect();
        let ended = self.supervised.sweep(&output);
        tracing::warn!(ended, "the supervisor ended; its process session was swept");
    }

    /// Lists the survivors and hands them over to the supervisor, along with their output.
    async fn hand_over(&mut self, out: &mut dyn OutputConsumer) -> Vec<Survivor> {
        let Ok(mut survivors) = self.supervised.survivors().await else {
            return Vec::new();
        };
        if !survivors.is_empty() {
            self.conclude(out);
            let output = OpenOutput::of(&*self.source, out);
            let handover = self.handover;
            handover
                .adopt(&mut survivors, self.supervised, output)
                .await;
        }
        survivors
    }
}

impl FollowedCall {
    /// Returns the outcome of the call from these observations.
    pub fn outcome(&mut self, handover: &SurvivorHandover<'_>, duration: Duration) -> Outcome {
        let ending = ending(self.reason, self.shell, handover.spec.timeout);
        let mut outcome = Outcome::new(ending, handover.started_at, duration);
        outcome.shell_signal = self.shell.and_then(ShellEnd::signal);
        outcome.name_survivors(std::mem::take(&mut self.survivors));
        outcome
    }
}
