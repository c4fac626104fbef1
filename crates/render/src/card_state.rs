//! The state of a card's call.

use agent_bash_core::Status;

/// The state of a call as its card shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CardState {
    /// Still running.
    Running,
    /// Running, and a program waits for input.
    WaitingForInput,
    /// Ended.
    Ended(Status),
}

impl CardState {
    /// The state in a word or two. Outcomes that matter to the user differ even without colour: `running`, `waiting
    /// for input`, `exit 0`, `exit 3`, `killed by SIGKILL`, `timed out`, `cancelled`, `in the background`,
    /// `blocked`, `not started`, `outcome unknown`.
    pub fn badge(&self) -> String {
        let status = match self {
            Self::Running => return "running".to_owned(),
            Self::WaitingForInput => return "waiting for input".to_owned(),
            Self::Ended(status) => status,
        };
        match status {
            Status::Exited { code } => format!("exit {code}"),
            Status::Signaled { signal, .. } => format!("killed by {signal}"),
            Status::TimedOut { .. } => "timed out".to_owned(),
            Status::Cancelled => "cancelled".to_owned(),
            Status::MovedToBackground { .. } => "in the background".to_owned(),
            Status::Blocked { .. } => "blocked".to_owned(),
            Status::NotStarted { .. } => "not started".to_owned(),
            // Lost, and whatever a later version adds.
            _ => "outcome unknown".to_owned(),
        }
    }

    /// Whether the card shows a spinner and a running time.
    pub fn is_live(&self) -> bool {
        !matches!(self, Self::Ended(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_states_look_the_same() {
        let reason = || "x".to_owned();
        let ends = [
            Status::Exited { code: 0 },
            Status::Exited { code: 124 },
            Status::Signaled {
                signal: "SIGKILL".to_owned(),
                number: 9,
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
        let count = ends.len() + 2;
        let states = ends
            .map(CardState::Ended)
            .into_iter()
            .chain([CardState::Running, CardState::WaitingForInput]);
        let badges: BTreeSet<String> = states.map(|state| state.badge()).collect();
        assert_eq!(badges.len(), count, "{badges:?}");
    }

    #[test]
    fn only_what_is_over_is_not_live() {
        assert!(CardState::Running.is_live() && CardState::WaitingForInput.is_live());
        assert!(!CardState::Ended(Status::Cancelled).is_live());
    }
}
