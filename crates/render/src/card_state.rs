//! The state of a card's call.

use agent_bash_core::Status;

/// The state of a call as its card shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CardState {
    /// The call is running.
    Running,
    /// The call is running, and a program waits for input.
    WaitingForInput,
    /// The call does not run yet: it needs an approval.
    WaitingForAnswer,
    /// The call has ended.
    Ended(Status),
    /// The call ended in an earlier run, with an unknown outcome.
    Earlier,
}

impl CardState {
    /// Columns of the longest badge.
    pub(crate) const BADGE_COLUMNS: usize = 11;

    /// The state in a word or two. Outcomes that matter to the user have different words, so that
    /// they differ without colour.
    pub fn badge(&self) -> String {
        let status = match self {
            Self::Running => return "running".to_owned(),
            Self::WaitingForInput => return "needs input".to_owned(),
            Self::WaitingForAnswer => return "needs a yes".to_owned(),
            Self::Earlier => return "earlier run".to_owned(),
            Self::Ended(status) => status,
        };
        match status {
            Status::Exited { code } => format!("exit {code}"),
            Status::Signaled { signal, .. } => signal.clone(),
            Status::TimedOut { .. } => "timed out".to_owned(),
            Status::Cancelled => "cancelled".to_owned(),
            Status::MovedToBackground { .. } => "background".to_owned(),
            Status::Blocked { .. } => "blocked".to_owned(),
            Status::NotStarted { .. } => "not started".to_owned(),
            // `Lost`, or a status that a later version adds.
            _ => "unknown".to_owned(),
        }
    }

    /// True if the call has not ended.
    pub fn is_live(&self) -> bool {
        !matches!(self, Self::Ended(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::JobId;
    use std::collections::BTreeSet;

    #[test]
    fn states_have_different_badges_and_icons() {
        let reason = || "x".to_owned();
        let signaled = |signal: &str, number| Status::Signaled {
            signal: signal.to_owned(),
            number,
        };
        let ends = [
            Status::Exited { code: 0 },
            Status::Exited { code: 124 },
            signaled("SIGKILL", 9),
            signaled("SIGRTMIN+14", 48),
            Status::MovedToBackground {
                job: JobId("3".to_owned()),
                pid: 9,
                pgid: 9,
                output: String::new(),
            },
            Status::TimedOut { after_ms: 1 },
            Status::Cancelled,
            Status::Blocked {
                rule: reason(),
                suggested_tool: None,
            },
            Status::NotStarted { reason: reason() },
            Status::lost(reason()),
        ];
        let live = [
            CardState::Running,
            CardState::WaitingForInput,
            CardState::WaitingForAnswer,
            CardState::Earlier,
        ];
        let count = ends.len() + live.len();
        let states = ends.map(CardState::Ended).into_iter().chain(live);
        let badges: BTreeSet<String> = states.map(|state| state.badge()).collect();
        assert_eq!(badges.len(), count, "{badges:?}");
        // The text after the badges is aligned.
        let longest = badges.iter().map(|badge| badge.chars().count()).max();
        assert_eq!(longest, Some(CardState::BADGE_COLUMNS), "{badges:?}");
    }

    #[test]
    fn only_ended_states_are_not_live() {
        assert!(CardState::Running.is_live() && CardState::WaitingForInput.is_live());
        assert!(!CardState::Ended(Status::Cancelled).is_live());
    }
}
