//! What an adapter changes of the profile that is in force.

use agent_bash_core::{Profile, Streams, Truncation};
use std::time::Duration;

/// The limits of an adapter. Those that are `None` stay the session's.
#[derive(Debug, Clone, Copy)]
pub struct Knobs {
    /// Where a call names none.
    pub timeout: Option<Duration>,
    /// The longest in the foreground. The session's holds too, where it is shorter: a user who has tightened it means every tool.
    pub timeout_max: Option<Duration>,
    /// What is in the foreground may take as long as what goes on without its call: its caller is answered before.
    pub patient: bool,
    /// The longest of what goes on without its call.
    pub background_max: Option<Duration>,
    /// One pipe or two.
    pub streams: Streams,
    /// What is shown.
    pub truncation: Option<Truncation>,
}

impl Knobs {
    /// Two pipes, and nothing else changed.
    pub const NONE: Self = Self {
        timeout: None,
        timeout_max: None,
        patient: false,
        background_max: None,
        streams: Streams::Split,
        truncation: None,
    };

    /// The profile with these limits.
    pub fn profile(&self, session: &Profile) -> Profile {
        let mut profile = session.clone();
        // The model's own words are run: what it reads piece by piece must not be another command's output.
        profile.normalise = false;
        profile.streams = self.streams;
        if let Some(truncation) = self.truncation {
            profile.output.truncation = truncation;
        }
        let times = &mut profile.timeouts;
        times.min = Duration::from_millis(1);
        if let Some(max) = self.timeout_max {
            times.max = times.max.min(max);
        }
        if self.patient {
            times.max = times.background;
            times.default = times.background;
        }
        times.default = self.timeout.unwrap_or(times.default).min(times.max);
        times.slow = times.slow.min(times.max);
        if let Some(max) = self.background_max {
            times.background = times.background.min(max);
        }
        profile
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiles::STANDARD;

    #[test]
    fn a_limit_that_the_user_has_tightened_holds() {
        let knobs = Knobs {
            timeout: Some(Duration::from_secs(120)),
            timeout_max: Some(Duration::from_secs(600)),
            ..Knobs::NONE
        };
        let times = knobs.profile(&STANDARD).timeouts;
        let seconds = (times.default.as_secs(), times.max.as_secs());
        assert_eq!(seconds, (120, 600));
        let mut tight = STANDARD.clone();
        tight.timeouts.max = Duration::from_secs(60);
        let times = knobs.profile(&tight).timeouts;
        let seconds = (times.default.as_secs(), times.max.as_secs());
        assert_eq!(seconds, (60, 60));
        assert_eq!(times.background, STANDARD.timeouts.background);
        let patient = Knobs {
            patient: true,
            ..Knobs::NONE
        };
        let times = patient.profile(&tight).timeouts;
        assert_eq!(
            (times.default, times.max),
            (times.background, times.background)
        );
    }
}
