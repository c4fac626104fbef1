//! The record of one call's changes, from before the script is passed to the shell until the end of
//! the call's last process.

use agent_bash_core::RunSpec;
use agent_bash_core::changes::TraceState;
use agent_bash_process::supervisor::SupervisorClient;
use std::io;

/// A record in progress, or the reason why it could not begin. Contains `None` if nothing is
/// observed, or if the record has ended.
#[derive(Debug)]
pub struct Recording(Option<Result<Observation, TraceState>>);

/// The observations of a tracer during a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Observation {
    /// The changes of the call, or the connections of a trial.
    Changes,
    /// Only the writes that the sandbox refuses.
    Refusals,
}

impl Recording {
    /// Begins the record in a new shell, if the spec asks for one. Without a record, a sandbox that
    /// [reports refusals](agent_bash_core::sandbox::Plan::reports_refusals) still observes the
    /// refused writes of the call. `untraced_reason` is `None` for a traced shell.
    pub fn begin(
        spec: &RunSpec,
        supervised: &SupervisorClient,
        untraced_reason: Option<&String>,
    ) -> Self {
        if spec.trial.is_some() {
            // A trial holds its changes back. Only its connections are traced, from the start of
            // the shell.
            let state = untraced_reason.map(|reason| {
                let problem = "connections to processes outside could not be traced";
                TraceState::incomplete(format!("{problem}: {reason}"))
            });
            return Self(Some(state.map_or(Ok(Observation::Changes), Err)));
        }
        let Some(set) = &spec.trace else {
            let plan = spec.sandbox.as_ref();
            let plan = plan.filter(|plan| plan.reports_refusals());
            return Self(plan.map(|_| Ok(Observation::Refusals)));
        };
        Self(Some(match untraced_reason {
            Some(reason) => Err(TraceState::untraced(reason)),
            None => observing_changes(supervised.record(set)),
        }))
    }

    /// Begins the record in a shell that has run other scripts.
    pub async fn begin_in_used_shell(
        spec: &RunSpec,
        supervised: &mut SupervisorClient,
        untraced_reason: Option<&String>,
    ) -> Self {
        match (&spec.trace, untraced_reason) {
            (Some(set), None) => {
                let started = supervised.record_running(set).await;
                Self(Some(observing_changes(started)))
            }
            _ => Self::begin(spec, supervised, untraced_reason),
        }
    }

    /// Ends the record and returns how complete it is. `None` without a record, or if the record
    /// has ended before.
    pub async fn end(&mut self, supervised: &mut SupervisorClient) -> Option<TraceState> {
        match self.0.take()? {
            Ok(Observation::Changes) => Some(supervised.stop_recording().await),
            Ok(Observation::Refusals) => {
                let observed = supervised.stop_recording().await;
                // The shell may be untraced.
                Some(observed).filter(|observed| observed.incomplete_reason.is_none())
            }
            Err(state) => Some(state),
        }
    }
}

fn observing_changes(begun: io::Result<()>) -> Result<Observation, TraceState> {
    let failed = |error: io::Error| TraceState::incomplete(error.to_string());
    begun.map(|()| Observation::Changes).map_err(failed)
}
