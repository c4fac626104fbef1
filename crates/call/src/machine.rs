//! The state of a call between its hand-over and its outcome, as a state machine without a runtime:
//! timestamped events go in, actions come out. `follow` waits for the events and carries out the
//! actions.
//!
//! ```text
//! Running ─► Ending ─► Ended ─► Draining ─► Leaving ─► Done
//!    └─────────────────►┘          └────────────────────►┘
//! ```
//!
//! `Leaving` stands for the states that handle the remaining processes: `Settling`, `Adopting`,
//! `Killing` and `Waiting`. The state does not include whether the shell read the script: `script`
//! determines this at the end.

use crate::EndReason;
use agent_bash_core::{Survivor, SurvivorPolicy};
use agent_bash_process::supervisor::ShellEnd;
use std::time::Duration;

/// Time without output after which the output counts as drained. After the shell's end, draining
/// also ends at EOF, or when [`FollowTerms::drain`] has passed.
const QUIET_PERIOD: Duration = Duration::from_millis(100);

/// Time after which processes that have closed the output, but have not exited, count as survivors.
const SETTLE_TIME: Duration = Duration::from_millis(50);

/// Maximum time from the end of the grace period to the answer, even if processes survive SIGKILL.
pub const MAX_AFTER_GRACE: Duration = Duration::from_secs(1);

/// Time after a consumer's request to stop at which the consumer's output streams are closed.
const MAX_AFTER_STOP: Duration = Duration::from_secs(1);

/// The time limits and the policy by which a call is followed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FollowTerms {
    /// Time between SIGTERM and SIGKILL.
    pub(crate) grace: Duration,
    /// Maximum time of draining, even if more output arrives.
    pub(crate) drain: Duration,
    /// The policy for processes that remain when the shell has ended. If it is `None`, the caller
    /// handles these processes, for example if a persistent shell continues.
    pub(crate) survivors: Option<SurvivorPolicy>,
}

/// An event in the life of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Event {
    /// The shell has ended. `empty` is true if no other process remains.
    ShellEnded { end: ShellEnd, empty: bool },
    /// The shell has finished the script, and waits for the next script.
    ShellDone,
    /// No process of the call remains.
    Empty,
    /// Some processes survived SIGKILL.
    Stuck(Vec<Survivor>),
    /// The supervisor ended, so the shell can no longer be observed.
    SupervisorEnded,
    /// The call is being terminated.
    Terminating(EndReason),
    /// Output was read.
    Read,
    /// There was nothing to read.
    NothingRead,
    /// The consumer asked to stop.
    ConsumerStopped,
    /// All output has reached EOF.
    OutputEnded,
    /// The limit after the consumer's stop is exceeded, and a terminal has no single stream to
    /// close.
    HangUp,
    /// Reading the output failed.
    Unreadable,
    /// The caller has examined the shell's end: drain the output and handle remaining processes.
    Finish,
    /// The [`Machine::deadline`] has passed.
    Due,
    /// The remaining processes were handed over.
    HandedOver(Vec<Survivor>),
}

/// An action to carry out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Send the supervisor SIGCONT, because the script may have stopped it.
    Wake,
    /// Terminate the whole tree.
    Terminate { grace: Duration },
    /// Close the streams whose consumer asked to stop.
    CloseStopped,
    /// Read what is available without waiting. [`Event::Read`], [`Event::NothingRead`] or
    /// [`Event::OutputEnded`] follows.
    ReadNow,
    /// Kill the remaining processes of a supervisor that ended, then do [`Action::ReadNow`].
    Sweep,
    /// List the remaining processes, and hand them over. [`Event::HandedOver`] follows.
    HandOver,
}

/// The phases of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallState {
    /// The shell runs its script.
    Running,
    /// The tree is being terminated, and awaited until `deadline`.
    Ending { deadline: Duration },
    /// The shell has ended, or is no longer waited for.
    Ended,
    /// The shell's remaining output is being read. `quiet` is the time at which the output counts
    /// as drained, unless more arrives.
    Draining {
        limit: Duration,
        quiet: Option<Duration>,
    },
    /// All output was read; remaining processes may be about to exit.
    Settling { until: Duration },
    /// The remaining processes are being handed over.
    Adopting,
    /// The remaining processes are being killed.
    Killing { deadline: Duration },
    /// The remaining processes are being awaited.
    Waiting,
    /// The call is over.
    Done,
}

/// The processes of the call, as the supervisor reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TreeState {
    /// The shell runs the script.
    Running,
    /// The shell has ended, or (if `None`) has finished the script and waits for the next script.
    /// Other processes may remain.
    Remaining(Option<ShellEnd>),
    /// The shell has ended or finished the script, and no other process remains.
    Empty(Option<ShellEnd>),
    /// The supervisor ended, after it reported this end of the shell.
    Unobserved(Option<ShellEnd>),
}

/// The state machine of one call.
#[derive(Debug)]
pub(crate) struct Machine {
    terms: FollowTerms,
    state: CallState,
    /// The time at which the streams of a consumer that asked to stop are closed.
    close_at: Option<Duration>,
    reason: Option<EndReason>,
    tree: TreeState,
    /// True once the process tree was ordered to terminate.
    is_terminating: bool,
    /// True once the remaining processes were killed or have exited: the policy is not applied
    /// again.
    remaining_handled: bool,
    output_ended: bool,
    survivors: Vec<Survivor>,
    ended_at: Duration,
}

impl Machine {
    pub(crate) fn new(terms: FollowTerms) -> Self {
        Self {
            terms,
            state: CallState::Running,
            close_at: None,
            reason: None,
            tree: TreeState::Running,
            is_terminating: false,
            remaining_handled: false,
            output_ended: false,
            survivors: Vec::new(),
            ended_at: Duration::ZERO,
        }
    }

    /// Returns the machine for the remaining processes of a finished call whose shell continues.
    pub(crate) fn for_survivors(terms: FollowTerms, output_ended: bool, now: Duration) -> Self {
        let state = match terms.survivors {
            Some(SurvivorPolicy::Wait) => CallState::Waiting,
            // Processes that have closed the output usually exit soon.
            _ if output_ended => CallState::Settling {
                until: now + SETTLE_TIME,
            },
            _ => CallState::Settling { until: now },
        };
        Self {
            state,
            tree: TreeState::Remaining(None),
            output_ended,
            ..Self::new(terms)
        }
    }

    /// Returns the time of [`Event::Due`], unless another event comes first.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let state = match self.state {
            CallState::Ending { deadline } | CallState::Killing { deadline } => Some(deadline),
            CallState::Draining { limit, quiet } => {
                quiet.map(|quiet| quiet.min(limit)).or(Some(limit))
            }
            CallState::Settling { until } => Some(until),
            CallState::Running
            | CallState::Ended
            | CallState::Adopting
            | CallState::Waiting
            | CallState::Done => None,
        };
        state.into_iter().chain(self.close_at).min()
    }

    /// True if the supervisor may report more events.
    pub(crate) fn expects_events(&self) -> bool {
        matches!(self.tree, TreeState::Running | TreeState::Remaining(_))
    }

    /// True while a termination of the call would have an effect.
    pub(crate) fn can_terminate(&self) -> bool {
        match self.state {
            CallState::Running | CallState::Waiting => true,
            CallState::Draining { .. } | CallState::Settling { .. } => self.may_have_survivors(),
            _ => false,
        }
    }

    /// True if the call is not being terminated and may have remaining processes.
    pub(crate) fn may_have_survivors(&self) -> bool {
        !self.is_terminating && !self.has_no_remaining()
    }

    /// True while the machine waits for the shell.
    pub(crate) fn is_running(&self) -> bool {
        matches!(self.state, CallState::Running | CallState::Ending { .. })
    }

    pub(crate) fn is_done(&self) -> bool {
        self.state == CallState::Done
    }

    pub(crate) fn terms(&self) -> FollowTerms {
        self.terms
    }

    /// Returns the time at which the shell ended.
    pub(crate) fn ended_at(&self) -> Duration {
        self.ended_at
    }

    pub(crate) fn shell(&self) -> Option<ShellEnd> {
        match self.tree {
            TreeState::Running => None,
            TreeState::Remaining(end) | TreeState::Empty(end) | TreeState::Unobserved(end) => end,
        }
    }

    /// Returns why the call was terminated.
    pub(crate) fn reason(&self) -> Option<EndReason> {
        self.reason
    }

    /// True if the supervisor has no processes, and can serve another call.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self.tree, TreeState::Empty(Some(_)))
    }

    /// Returns the remaining processes.
    pub(crate) fn into_survivors(self) -> Vec<Survivor> {
        self.survivors
    }

    /// Processes an event that occurred at `now`.
    pub(crate) fn step(&mut self, event: Event, now: Duration) -> Option<Action> {
        if event == Event::Due && self.close_at.is_some_and(|at| at <= now) {
            self.close_at = None;
            return Some(Action::CloseStopped);
        }
        match self.state {
            CallState::Running | CallState::Ending { .. } => self.until_ended(event, now),
            CallState::Ended if event == Event::Finish => {
                self.drain(now);
                Some(match self.tree {
                    TreeState::Unobserved(None) => Action::Sweep,
                    _ => Action::ReadNow,
                })
            }
            CallState::Draining { .. } | CallState::Settling { .. } | CallState::Waiting
                if matches!(event, Event::Terminating(_)) && self.may_have_survivors() =>
            {
                self.is_terminating = true;
                Some(self.kill(self.terms.grace, now))
            }
            CallState::Draining { limit, quiet } => self.until_drained(event, limit, quiet, now),
            CallState::Settling { until } => {
                self.update_tree(event);
                let is_over = self.has_no_remaining() || until <= now;
                if is_over {
                    self.handle_remaining(now)
                } else {
                    None
                }
            }
            CallState::Adopting | CallState::Killing { .. } | CallState::Waiting => {
                self.until_empty(event, now)
            }
            CallState::Ended | CallState::Done => None,
        }
    }

    /// Updates the tree state from an event, in every call state.
    fn update_tree(&mut self, event: Event) {
        self.tree = match (event, self.tree) {
            (Event::ShellEnded { end, empty: true }, _) => TreeState::Empty(Some(end)),
            (Event::ShellEnded { end, empty: false }, _) => TreeState::Remaining(Some(end)),
            (Event::ShellDone, TreeState::Running) => TreeState::Remaining(None),
            (Event::Empty, TreeState::Remaining(end)) => TreeState::Empty(end),
            (Event::SupervisorEnded, _) => TreeState::Unobserved(self.shell()),
            (Event::Stuck(survivors), tree) => {
                self.survivors = survivors;
                tree
            }
            (Event::OutputEnded, tree) => {
                self.output_ended = true;
                tree
            }
            (_, tree) => tree,
        };
    }

    fn until_ended(&mut self, event: Event, now: Duration) -> Option<Action> {
        let grace = self.terms.grace;
        match event {
            Event::Terminating(reason) if self.reason.is_none() => {
                self.reason = Some(reason);
                self.begin_ending(now + grace + MAX_AFTER_GRACE);
                return Some(Action::Wake);
            }
            Event::HangUp if !self.is_terminating => {
                self.begin_ending(now + grace + MAX_AFTER_GRACE);
                return Some(Action::Terminate { grace });
            }
            Event::Unreadable if !self.is_terminating => {
                self.output_ended = true;
                self.begin_ending(now + MAX_AFTER_GRACE);
                let grace = Duration::ZERO;
                return Some(Action::Terminate { grace });
            }
            Event::ConsumerStopped => self.close_at = Some(now + MAX_AFTER_STOP),
            event => self.update_tree(event),
        }
        let gives_up = matches!(self.state, CallState::Ending { deadline } if deadline <= now);
        let is_over = match self.tree {
            TreeState::Running => false,
            TreeState::Remaining(_) => !self.is_terminating,
            TreeState::Empty(_) | TreeState::Unobserved(_) => true,
        };
        if is_over || gives_up || !self.survivors.is_empty() {
            self.close_at = None;
            self.ended_at = now;
            self.state = CallState::Ended;
        }
        None
    }

    fn begin_ending(&mut self, deadline: Duration) {
        self.is_terminating = true;
        self.state = CallState::Ending { deadline };
    }

    fn drain(&mut self, now: Duration) {
        self.close_at = None;
        self.state = CallState::Draining {
            limit: now + self.terms.drain,
            quiet: Some(now + QUIET_PERIOD),
        };
    }

    fn until_drained(
        &mut self,
        event: Event,
        limit: Duration,
        quiet: Option<Duration>,
        now: Duration,
    ) -> Option<Action> {
        match event {
            Event::Read | Event::ConsumerStopped => {
                let quiet = Some(now + QUIET_PERIOD);
                self.state = CallState::Draining { limit, quiet };
            }
            // The host may have been scheduled late: read output that was written in time.
            Event::Due if now < limit && quiet.is_some_and(|quiet| quiet <= now) => {
                self.state = CallState::Draining { limit, quiet: None };
                return Some(Action::ReadNow);
            }
            Event::NothingRead if quiet.is_none() => return self.handle_remaining(now),
            Event::HangUp | Event::Unreadable => return self.handle_remaining(now),
            event => self.update_tree(event),
        }
        if self.output_ended {
            if !self.has_no_remaining() {
                let until = now + SETTLE_TIME;
                self.state = CallState::Settling { until };
                return None;
            }
            return self.handle_remaining(now);
        }
        if limit <= now {
            self.handle_remaining(now)
        } else {
            None
        }
    }

    /// True if no remaining process needs to be handled: all have ended, were handled, or are left
    /// to the caller.
    fn has_no_remaining(&self) -> bool {
        let caller_handles_remaining = self.terms.survivors.is_none();
        caller_handles_remaining
            || self.remaining_handled
            || !matches!(self.tree, TreeState::Remaining(_))
    }

    /// Applies the policy to the remaining processes, once all output was read.
    fn handle_remaining(&mut self, now: Duration) -> Option<Action> {
        let is_settled = self.is_terminating || self.has_no_remaining();
        let policy = self.terms.survivors.filter(|_| !is_settled);
        match policy {
            None => {
                self.state = CallState::Done;
                None
            }
            Some(SurvivorPolicy::Adopt) => {
                self.state = CallState::Adopting;
                Some(Action::HandOver)
            }
            Some(SurvivorPolicy::Kill) => Some(self.kill(Duration::ZERO, now)),
            Some(SurvivorPolicy::Wait) => {
                self.state = CallState::Waiting;
                None
            }
        }
    }

    fn kill(&mut self, grace: Duration, now: Duration) -> Action {
        let deadline = now + grace + MAX_AFTER_GRACE;
        self.state = CallState::Killing { deadline };
        Action::Terminate { grace }
    }

    fn until_empty(&mut self, event: Event, now: Duration) -> Option<Action> {
        match event {
            Event::HandedOver(survivors) => {
                self.survivors = survivors;
                self.state = CallState::Done;
                return None;
            }
            Event::HangUp if self.state == CallState::Waiting => {
                return Some(self.kill(self.terms.grace, now));
            }
            Event::ConsumerStopped => self.close_at = Some(now + MAX_AFTER_STOP),
            event => self.update_tree(event),
        }
        if !self.survivors.is_empty() {
            self.state = CallState::Done;
            return None;
        }
        let gives_up = matches!(self.state, CallState::Killing { deadline } if deadline <= now);
        if gives_up || matches!(self.tree, TreeState::Empty(_) | TreeState::Unobserved(_)) {
            self.remaining_handled = true;
            self.drain(now);
            return Some(Action::ReadNow);
        }
        None
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
