//! Derives the ending of a call from the observed end of its shell.

use crate::EndReason;
use agent_bash_core::{Clock, Outcome, ScriptEnding};
use agent_bash_process::supervisor::ShellEnd;
use std::time::Duration;

/// Returns the ending of a call from the end of its shell, which is `None` if it was not observed.
/// The reason for terminating the call takes precedence, because a shell that is terminated by a
/// time limit exits as well. `limit` is the call's time limit.
pub fn ending(
    reason: Option<EndReason>,
    shell: Option<ShellEnd>,
    limit: Option<Duration>,
) -> ScriptEnding {
    match (reason, shell) {
        (Some(EndReason::Cancel | EndReason::Kill), _) => ScriptEnding::Cancelled,
        (Some(EndReason::Timeout), _) => ScriptEnding::TimedOut {
            after: limit.unwrap_or_default(),
        },
        (None, Some(shell)) => shell.into(),
        (None, None) => ScriptEnding::Lost {
            reason:
                "the supervisor of the call was ended, so the end of the command was not observed"
                    .to_owned(),
        },
    }
}

/// Returns the outcome of a call that was cancelled before anything was started.
pub fn cancelled_before(clock: &dyn Clock) -> Outcome {
    Outcome::new(ScriptEnding::Cancelled, clock.wall(), Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn termination_reason_takes_precedence_over_the_exit_status() {
        let limit = Duration::from_secs(7);
        let exited = Some(ShellEnd::Exited(143));
        for (reason, shell, wanted) in [
            (Some(EndReason::Cancel), exited, ScriptEnding::Cancelled),
            (Some(EndReason::Kill), None, ScriptEnding::Cancelled),
            (
                Some(EndReason::Timeout),
                exited,
                ScriptEnding::TimedOut { after: limit },
            ),
            (None, exited, ScriptEnding::Exited { code: 143 }),
            (
                None,
                Some(ShellEnd::Signaled(9)),
                ShellEnd::Signaled(9).into(),
            ),
        ] {
            assert_eq!(ending(reason, shell, Some(limit)), wanted, "{reason:?}");
        }
        assert!(matches!(
            ending(None, None, Some(limit)),
            ScriptEnding::Lost { .. }
        ));
    }
}
