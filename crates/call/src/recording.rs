//! The record of one call's changes, from before the script is passed to the shell until the end of
//! the call's last process.

use agent_bash_core::RunSpec;
use agent_bash_core::changes::TraceState;
use agent_bash_process::supervisor::SupervisorClient;

/// A record in progress, or the reason why it could not begin. Contains `None` if the spec asks for
/// no record, or if the record has ended.
#[derive(Debug)]
pub struct Recording(Option<Result<(), TraceState>>);

impl Recording {
    /// Begins the record in a new shell, if the spec asks for one. `untraced_reason` is `None` for
    /// a traced shell.
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
            return Self(Some(state.map_or(Ok(()), Err)));
        }
        Self(spec.trace.as_ref().map(|set| {
            match untraced_reason {
                Some(reason) => Err(TraceState::untraced(reason)),
                None => supervised
                    .record(set)
                    .map_err(|error| TraceState::incomplete(error.to_string())),
            }
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
                Self(Some(
                    started.map_err(|error| TraceState::incomplete(error.to_string())),
                ))
            }
            _ => Self::begin(spec, supervised, untraced_reason),
        }
    }

    /// Ends the record and returns how complete it is. `None` without a record, or if the record
    /// has ended before.
    pub async fn end(&mut self, supervised: &mut SupervisorClient) -> Option<TraceState> {
        Some(match self.0.take()? {
            Ok(()) => supervised.stop_recording().await,
            Err(state) => state,
        })
    }
}
